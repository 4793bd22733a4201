package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"orchestrator/contextmgr/wire/span"
)

// longString is the size up to which a string in a call's input stays when the input is replaced, in bytes of its JSON
// without the quotes.
const longString = 200

// Replace returns what stands in place of a content that is replaced by a text, for the codecs: parts of text are of
// the given kind. The value of a key that names a file stays, as does everything of an input that is no long string. It
// returns nil if the content is not of that form, or if nothing would be shorter.
func Replace(content json.RawMessage, form Form, text, kind string) json.RawMessage {
	content = bytes.TrimSpace(content)
	if len(content) < 2 || form == FormInput && len(content) <= longString {
		return nil
	}
	var out json.RawMessage
	switch begins := content[0]; {
	case form == FormText && begins == '"':
		out = Quote(text)
	case form == FormParts && begins == '[':
		out = slices.Concat([]byte(`[{"type":`), Quote(kind), []byte(`,"text":`), Quote(text), []byte(`}]`))
	case form == FormValue && begins == '{':
		out = slices.Concat([]byte(`{"output":`), Quote(text), []byte{'}'})
	case form == FormInput && begins == '{':
		out = replaceStrings(content, Quote(text))
	case form == FormInput && begins == '"':
		out = replaceInString(content, Quote(text))
	}
	if len(out) >= len(content) {
		return nil
	}
	return out
}

// replaceInString replaces the long strings of an object that is the text of a string.
func replaceInString(content, quoted json.RawMessage) json.RawMessage {
	object, ok := ObjectInString(content)
	if !ok {
		return nil
	}
	inner := replaceStrings(object, quoted)
	if inner == nil {
		return nil
	}
	return Quote(string(inner))
}

// ObjectInString returns the JSON object that a string holds. It reports false if the string holds none, or one that
// cannot be written again as it was, because of half runes.
func ObjectInString(raw json.RawMessage) (json.RawMessage, bool) {
	s, ok := text(raw)
	if !ok || strings.ContainsRune(s, '\uFFFD') {
		return nil, false
	}
	object := json.RawMessage(s)
	c := span.New(object)
	if c.Kind() != '{' {
		return nil, false
	}
	if _, err := c.Raw(); err != nil || c.End() != nil {
		return nil, false
	}
	return object, true
}

// replaceStrings replaces the long strings of an object by one that is shorter, nil if it has none.
func replaceStrings(object, quoted json.RawMessage) json.RawMessage {
	var with []Replacement
	c := span.New(object)
	if err := longStrings(c, func(s Span) {
		if s.End-s.Start > len(quoted) {
			with = append(with, Replacement{s, quoted})
		}
	}); err != nil || c.End() != nil || len(with) == 0 {
		return nil
	}
	return Splice(object, with)
}

// longStrings calls fn with the place of each long string of the next value, at any depth, that names no file.
func longStrings(c *span.Cursor, fn func(Span)) error {
	switch c.Kind() {
	case '{':
		return c.Object(func(key string, c *span.Cursor) error {
			if namesFile(key) {
				return nil
			}
			return longStrings(c, fn)
		})
	case '[':
		return c.Array(func(c *span.Cursor) error { return longStrings(c, fn) })
	}
	raw, err := c.Raw()
	if err == nil && raw[0] == '"' && len(raw)-len(`""`) > longString {
		fn(Span{c.Offset() - len(raw), c.Offset()})
	}
	return err
}
