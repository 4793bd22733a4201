package wire

import (
	"encoding/json"
	"net/http"
)

// Scanner is a Codec that also finds what a request holds that may be replaced by something shorter, and where.
// Optional for a Codec.
type Scanner interface {
	Codec
	// Scan reads a call as Request does and lists its contents. Items that are the same as in an earlier scan of the
	// same conversation are not read again; earlier may be nil, or the scan of another conversation, and is not
	// changed. With an error, the call must be forwarded as it came.
	Scan(call Call, earlier *Scan) (*Scan, error)
	// Replace returns the JSON that stands in place of a content when it is replaced by a text. It keeps the content's
	// form, so that the request stays valid: a string stays a string, a list of parts becomes a list of one text, and
	// of a call's input only the long strings are replaced. It returns nil if the content cannot be replaced, or not by
	// less.
	Replace(content json.RawMessage, form Form, text string) json.RawMessage
	// Login reports whether a request is paid by a subscription to which a person has logged in, and not by a key.
	Login(header http.Header) bool
	// PersonItem returns an item in which the person says a text.
	PersonItem(text string) json.RawMessage
}

// Scan is what was found in a call's body. It holds no reference to the body but for Request. What may be ambiguous to
// a reader of the body is not content: then a list has no contents at all, or a result or an input is left out. A Scan
// is not changed after it was made.
type Scan struct {
	Request  Request
	Contents []Content // in order
	Items    []Span    // of the items of Request
	// List is the span between the brackets of the list of items, zero if there is no such list or more than one.
	List Span

	// Prompted is the index of the item with the person's newest text, -1 if there is none.
	Prompted int

	known *memory
}

// ByModel reports whether the model wrote an item.
func (s *Scan) ByModel(item int) bool {
	return s.known != nil && item < len(s.known.items) && s.known.items[item].flags&ByModel != 0
}

// Memory returns a scan that is only good as an earlier one. It holds neither the body nor the contents.
func (s *Scan) Memory() *Scan {
	if s == nil {
		return nil
	}
	return &Scan{known: s.known}
}
