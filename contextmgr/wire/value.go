package wire

import (
	"bytes"
	"encoding/json"

	"orchestrator/contextmgr/wire/span"
)

// Span is a range of bytes of a body: from Start up to End.
type Span struct{ Start, End int }

// Of returns the bytes of the span.
func (s Span) Of(body []byte) []byte { return body[s.Start:s.End:s.End] }

// Value is the value of a key of an object, and where it is. The zero value stands for a key that is not there.
type Value struct {
	Raw   json.RawMessage // belongs to the document
	end   int
	times int
}

// Read reads the value at the cursor. If the key is there several times, the last value counts.
func (v *Value) Read(c *span.Cursor) (err error) {
	v.Raw, err = c.Raw()
	v.end = c.Offset()
	v.times++
	return err
}

// Once reports whether the key is there, and only once. Readers differ in which of several they use.
func (v Value) Once() bool { return v.times == 1 }

// AtMostOnce reports whether the key is not there several times.
func (v Value) AtMostOnce() bool { return v.times <= 1 }

// Span returns where in the cursor's document the value is.
func (v Value) Span() Span { return Span{v.end - len(v.Raw), v.end} }

// Is reports whether the value is the string s.
func (v Value) Is(s string) bool {
	if len(v.Raw) < 2 || v.Raw[0] != '"' {
		return false
	}
	in := v.Raw[1 : len(v.Raw)-1]
	return string(in) == s || bytes.IndexByte(in, '\\') >= 0 && v.Text() == s
}

// Text returns the text of a string, "" of anything else.
func (v Value) Text() string {
	s, _ := text(v.Raw)
	return s
}

// IsObject reports whether the value is an object.
func (v Value) IsObject() bool { return len(v.Raw) > 0 && v.Raw[0] == '{' }

// IsText reports whether the value is a string.
func (v Value) IsText() bool { return len(v.Raw) > 0 && v.Raw[0] == '"' }

// text returns the text of a string.
func text(raw json.RawMessage) (string, bool) {
	c := span.New(raw)
	if c.Kind() != '"' {
		return "", false
	}
	s, err := c.String()
	return s, err == nil && c.End() == nil
}
