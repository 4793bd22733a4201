// Package jsonc reads JSON with positions: every value knows its line, keys that occur twice are both there, and numbers
// keep their digits.
//
// It also accepts comments, trailing commas and a byte order mark, which editors' configuration files have. Values are
// views of the text: nothing is copied before it is asked for. Nesting is limited, so hostile text costs linear time and
// no stack.
package jsonc

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// maxDepth limits nesting.
const maxDepth = 200

// Kind is what a value is.
type Kind string

// The kinds.
const (
	Object Kind = "object"
	Array  Kind = "list"
	String Kind = "string"
	Number Kind = "number"
	Bool   Kind = "boolean"
	Null   Kind = "null"
)

// Value is a value in a text. The zero Value is no value.
type Value struct {
	Kind Kind
	Line int // from 1
	raw  []byte
}

// Member is a key and a value of an object.
type Member struct {
	Key   string
	Line  int // of the key
	Value Value
}

// Error is a syntax error.
type Error struct {
	Line int
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// Parse checks a whole text and returns its value.
func Parse(text []byte) (Value, error) {
	p := &parser{text: bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), line: 1}
	if err := p.blank(); err != nil {
		return Value{}, err
	}
	v, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	if err := p.blank(); err != nil {
		return Value{}, err
	}
	if p.at < len(p.text) {
		return Value{}, p.fail("unexpected %s after the value", p.shown())
	}
	return v, nil
}

// Raw returns the text of a value, comments included.
func (v Value) Raw() []byte { return v.raw }

// Text returns a string, or the digits or word of a number or boolean; ok is false for anything else.
func (v Value) Text() (s string, ok bool) {
	switch v.Kind {
	case String:
		return decode(v.raw), true
	case Number, Bool:
		return string(v.raw), true
	default:
		return "", false
	}
}

// Members returns the keys and values of an object, in their order; nothing for another kind.
func (v Value) Members() []Member {
	var out []Member
	p := &parser{text: v.raw, line: v.Line}
	if v.Kind == Object {
		_ = p.object(0, func(m Member) { out = append(out, m) }) // it was checked by Parse
	}
	return out
}

// Items returns the values of a list.
func (v Value) Items() []Value {
	var out []Value
	p := &parser{text: v.raw, line: v.Line}
	if v.Kind == Array {
		_ = p.array(0, func(i Value) { out = append(out, i) }) // it was checked by Parse
	}
	return out
}

// Member returns the value of a key, the last one if there are several, and whether it is there.
func (v Value) Member(key string) (Value, bool) {
	var found Value
	p := &parser{text: v.raw, line: v.Line}
	if v.Kind == Object {
		_ = p.object(0, func(m Member) {
			if m.Key == key {
				found = m.Value
			}
		}) // it was checked by Parse
	}
	return found, found.Kind != ""
}

func decode(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// parser reads a text from the front.
type parser struct {
	text []byte
	at   int
	line int
}

func (p *parser) fail(format string, args ...any) error {
	return &Error{Line: p.line, Text: fmt.Sprintf(format, args...)}
}

// shown is what is next, for an error.
func (p *parser) shown() string {
	if p.at >= len(p.text) {
		return "end"
	}
	return fmt.Sprintf("%q", p.text[p.at])
}

func (p *parser) peek() byte {
	if p.at >= len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// blank skips blanks and comments.
func (p *parser) blank() error {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch {
		case rest[0] == '\n':
			p.line++
			p.at++
		case rest[0] == ' ', rest[0] == '\t', rest[0] == '\r':
			p.at++
		case bytes.HasPrefix(rest, []byte("//")):
			if n := bytes.IndexByte(rest, '\n'); n >= 0 {
				p.at += n
			} else {
				p.at = len(p.text)
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return p.fail("a comment does not end")
			}
			p.line += bytes.Count(rest[:n+4], []byte("\n"))
			p.at += n + 4
		default:
			return nil
		}
	}
	return nil
}

// value reads the value that begins here.
func (p *parser) value(depth int) (Value, error) {
	if depth > maxDepth {
		return Value{}, p.fail("nested more than %d levels deep", maxDepth)
	}
	v := Value{Line: p.line}
	begin := p.at
	var err error
	switch c := p.peek(); {
	case c == '{':
		v.Kind, err = Object, p.object(depth, nil)
	case c == '[':
		v.Kind, err = Array, p.array(depth, nil)
	case c == '"':
		v.Kind, err = String, p.string()
	case c == '-' || c >= '0' && c <= '9':
		v.Kind, err = Number, p.word()
	case c == 't' || c == 'f':
		v.Kind, err = Bool, p.word()
	case c == 'n':
		v.Kind, err = Null, p.word()
	default:
		err = p.fail("unexpected %s, expected a value", p.shown())
	}
	v.raw = p.text[begin:p.at:p.at]
	return v, err
}

// object reads an object and passes its members to each.
func (p *parser) object(depth int, each func(Member)) error {
	return p.list('}', func() error {
		m := Member{Line: p.line}
		begin := p.at
		if p.peek() != '"' {
			return p.fail("unexpected %s, expected a key in quotes", p.shown())
		}
		if err := p.string(); err != nil {
			return err
		}
		key := p.text[begin:p.at]
		if err := p.blank(); err != nil {
			return err
		}
		if p.peek() != ':' {
			return p.fail("unexpected %s, expected a colon after a key", p.shown())
		}
		p.at++
		if err := p.blank(); err != nil {
			return err
		}
		var err error
		if m.Value, err = p.value(depth + 1); err == nil && each != nil {
			m.Key = decode(key)
			each(m)
		}
		return err
	})
}

// array reads a list and passes its values to each.
func (p *parser) array(depth int, each func(Value)) error {
	return p.list(']', func() error {
		v, err := p.value(depth + 1)
		if err == nil && each != nil {
			each(v)
		}
		return err
	})
}

// list reads what is between brackets, separated by commas.
func (p *parser) list(end byte, element func() error) error {
	p.at++
	for {
		if err := p.blank(); err != nil {
			return err
		}
		if p.at < len(p.text) && p.text[p.at] == end {
			p.at++
			return nil
		}
		if err := element(); err != nil {
			return err
		}
		if err := p.blank(); err != nil {
			return err
		}
		switch {
		case p.peek() == ',':
			p.at++
		case p.at >= len(p.text) || p.text[p.at] != end:
			return p.fail("unexpected %s, expected a comma or %q", p.shown(), end)
		}
	}
}

// string reads a string; it is checked in full where it is decoded.
func (p *parser) string() error {
	begin := p.at
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '\\':
			p.at++
		case c == '"':
			p.at++
			if !json.Valid(p.text[begin:p.at]) {
				return p.fail("a string with a wrong escape")
			}
			return nil
		case c < 0x20:
			return p.fail("a string contains %q", c)
		}
	}
	p.at = len(p.text)
	return p.fail("a string does not end")
}

// word reads a number, true, false or null.
func (p *parser) word() error {
	begin := p.at
	for p.at < len(p.text) && bytes.IndexByte([]byte(" \t\r\n,:]}/\"[{"), p.text[p.at]) < 0 {
		p.at++
	}
	if !json.Valid(p.text[begin:p.at]) {
		p.at = begin
		return p.fail("expected a number, true, false or null, found %s", p.shown()) // it may be a secret
	}
	return nil
}
