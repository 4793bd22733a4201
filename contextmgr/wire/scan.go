package wire

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
)

// Scanner is a Codec that also finds what a request holds that may be replaced by something shorter, and where.
// Optional for a Codec.
type Scanner interface {
	Codec
	// Scan reads a call as Request does and lists its contents. Items that are the same as in an earlier scan of the same
	// conversation are not read again; earlier may be nil, or the scan of another conversation. With an error, the call
	// must be forwarded as it came.
	Scan(call Call, earlier *Scan) (*Scan, error)
	// Replace returns the JSON that stands in place of a content when it is replaced by a text. It keeps the content's form,
	// so that the request stays valid: a string stays a string, a list of parts becomes a list of one text, and of a call's
	// input only the long strings are replaced. It returns nil if the content cannot be replaced.
	Replace(content json.RawMessage, form Form, text string) json.RawMessage
	// Text returns a content as the tool returned it, for counting and for people; of an input, its JSON.
	Text(content json.RawMessage, form Form) string
	// Login reports whether a request is paid by a subscription to which a person has logged in, and not by a key.
	Login(header http.Header) bool
	// PersonItem returns an item in which the person says a text.
	PersonItem(text string) json.RawMessage
}

// Scan is what was found in a call's body. It holds no reference to the body but for Request.
type Scan struct {
	Request  Request
	Contents []Content // in order
	Items    []Item    // the same as those of Request
	// List is the span between the brackets of the list of items.
	List Span
}

// Item is an item of a request.
type Item struct {
	Span
	Model  bool // the model wrote it
	Person bool // a person's text is in it
}

// Span is a range of bytes of a body: from Start up to End.
type Span struct{ Start, End int }

// Of returns the bytes of the span.
func (s Span) Of(body []byte) []byte { return body[s.Start:s.End:s.End] }

// Form is the JSON form of a content.
type Form string

// The forms.
const (
	FormText  Form = "text"  // a string
	FormParts Form = "parts" // a list of parts of a message
	FormValue Form = "value" // an object, such as a function's response
	FormInput Form = "input" // the input of a call: an object, or a string that holds one
)

// Content is a piece of a request that may be replaced: the result of a tool call, or the input of one.
type Content struct {
	Span
	// Item is the index of the item that has it.
	Item int
	// Call is the id of the call, "" if the format has none, and Tool the name of its tool, "" if the call is not there.
	Call, Tool string
	// Input is the call's input as JSON, also for its result; at most MaxInput bytes of it, else nil.
	Input json.RawMessage
	Form  Form
	// Error is set if the agent marked the result as an error.
	Error bool
	// Other is how many parts of the result are no text, such as images.
	Other int
	// Sum is the hash of the content's bytes.
	Sum [sha256.Size]byte
}

// MaxInput is the size up to which a call's input is kept.
const MaxInput = 64 << 10

// Replacement is what stands in place of a span.
type Replacement struct {
	Span
	With []byte
}

// Splice returns a body with replacements, which are in order and do not overlap. All other bytes stay as they are.
func Splice(body []byte, with []Replacement) []byte {
	size := len(body)
	for _, r := range with {
		size += len(r.With) - (r.End - r.Start)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, r := range with {
		out = append(append(out, body[at:r.Start]...), r.With...)
		at = r.End
	}
	return append(out, body[at:]...)
}
