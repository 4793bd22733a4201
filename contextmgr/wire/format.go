package wire

import (
	"encoding/json"
	"net/http"
	"slices"

	"orchestrator/contextmgr/wire/span"
	"orchestrator/thread"
)

// Format is the part of a Codec that is the same for all: a codec embeds it and says what differs. It is a Scanner but
// for Entries, Answer, Error and Login.
type Format struct {
	Name string
	// Posts reports whether a path that something is posted to is in the format.
	Posts func(path string) bool
	// Read returns what reads the members of a body with these items into a request, and what completes the request then
	// and classifies it.
	Read func(*ItemReader, *Request) (member func(key string, c *span.Cursor) error, classify func(Call) Purpose)
	// Person returns the text that the person wrote in an item, "" if there is none. Only items with the flag Spoken may
	// contain one.
	Person func(item json.RawMessage) string
	Spoken Flags
	// Says is what stands before and after the text in an item that the person says.
	Says [2]string
	// Text is the kind of a part of a tool's result that is a text.
	Text string
}

// Wire implements Codec.
func (f *Format) Wire() string { return f.Name }

// Match implements Codec.
func (f *Format) Match(method, path string) bool { return method == http.MethodPost && f.Posts(path) }

// Request implements Codec.
func (f *Format) Request(call Call) (r Request, err error) {
	err = f.read(call, NewItemReader(f.Name), &r)
	return r, err
}

// Scan implements Scanner.
func (f *Format) Scan(call Call, earlier *Scan) (*Scan, error) {
	items, r := NewListing(f.Name, earlier), Request{}
	if err := f.read(call, items, &r); err != nil {
		return &Scan{Request: r, Prompted: -1}, err
	}
	return items.Scan(r), nil
}

// read reads and classifies a call.
func (f *Format) read(call Call, items *ItemReader, r *Request) error {
	c := span.New(call.Body)
	if c.Kind() != '{' {
		r.Purpose = PurposeOther
		return span.ErrSyntax
	}
	member, classify := f.Read(items, r)
	err := c.Object(member)
	if err == nil {
		err = c.End()
	}
	r.Items, r.Prompt, r.Fresh = items.Items(), items.Prompt(f.Spoken, f.Person), items.Fresh()
	r.Purpose = classify(call)
	if err != nil {
		r.Items, r.Purpose = nil, PurposeOther // part of a conversation does not count
	}
	return err
}

// Turns implements Reader.
func (f *Format) Turns(items []thread.Item) []int {
	var at []int
	for i, it := range items {
		if f.Person(it.Raw) != "" {
			at = append(at, i)
		}
	}
	return at
}

// Replace implements Scanner.
func (f *Format) Replace(content json.RawMessage, form Form, text string) json.RawMessage {
	return Replace(content, form, text, f.Text)
}

// PersonItem implements Scanner.
func (f *Format) PersonItem(text string) json.RawMessage {
	return slices.Concat([]byte(f.Says[0]), Quote(text), []byte(f.Says[1]))
}

// NewAnswer returns a reader for an answer, by those for answers that succeeded.
func NewAnswer(status int, contentType string, stream, whole func() Answer) Answer {
	switch {
	case status >= 300:
		return Failed()
	case Streamed(contentType):
		return stream()
	default:
		return whole()
	}
}
