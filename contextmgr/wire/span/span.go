// Package span walks JSON once and returns the raw bytes of the values it visits.
//
// Nothing is decoded except the requested strings, and nothing is ever encoded: a value's span is the document's own
// bytes. A returned span is valid JSON, any input whatever ends in a value or an error, and nesting deeper than
// MaxDepth is an error rather than a stack overflow. Documents are never changed.
package span

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// MaxDepth is the deepest nesting that is accepted.
const MaxDepth = 512

// ErrSyntax is returned for everything that is not valid JSON.
var ErrSyntax = errors.New("not valid JSON")

// ErrStop ends a walk early; Object and Array return it unchanged.
var ErrStop = errors.New("stop")

// Cursor is a position in a JSON document. It is used by one goroutine.
type Cursor struct {
	b     []byte
	i     int
	depth int
}

// New returns a cursor at the start of a document.
func New(b []byte) *Cursor { return &Cursor{b: b} }

// Offset returns how many bytes of the document have been read. Right after a value was read it is the value's end.
func (c *Cursor) Offset() int { return c.i }

// Depth returns how many objects and arrays are open at the cursor.
func (c *Cursor) Depth() int { return c.depth }

// Known reads the next value without parsing it, if same recognises its n bytes. They must be a value that was read
// before at the same depth, and are only read if the value ends there: a comma or the end of an array or object
// follows.
func (c *Cursor) Known(n int, same func(b []byte) bool) (json.RawMessage, bool) {
	c.space()
	if n <= 0 || n > len(c.b)-c.i {
		return nil, false
	}
	after := Cursor{b: c.b, i: c.i + n}
	switch after.Kind() {
	case ',', ']', '}':
	default:
		return nil, false
	}
	value := c.b[c.i : c.i+n : c.i+n]
	if !same(value) {
		return nil, false
	}
	c.i += n
	return value, true
}

// Kind returns the beginning of the next value: '{', '[', '"', 't', 'f', 'n', '-', '0' for any digit, and 0 at the end.
func (c *Cursor) Kind() byte {
	c.space()
	if c.i >= len(c.b) {
		return 0
	}
	if k := c.b[c.i]; k < '0' || k > '9' {
		return k
	}
	return '0'
}

// End returns an error if anything but white space is left.
func (c *Cursor) End() error {
	c.space()
	if c.i != len(c.b) {
		return ErrSyntax
	}
	return nil
}

// Raw reads the next value and returns its bytes, which belong to the document.
func (c *Cursor) Raw() (json.RawMessage, error) {
	c.space()
	start := c.i
	if err := c.skip(); err != nil {
		return nil, err
	}
	return json.RawMessage(c.b[start:c.i:c.i]), nil
}

// Object reads the next value, an object, and calls fn with each member's key and the cursor before its value. fn may
// read the value or leave it. A value of another kind is skipped.
func (c *Cursor) Object(fn func(key string, c *Cursor) error) error {
	if c.Kind() != '{' {
		return c.skip()
	}
	return c.members('}', func() error {
		key, err := c.key()
		if err != nil {
			return err
		}
		c.space()
		if c.i >= len(c.b) || c.b[c.i] != ':' {
			return ErrSyntax
		}
		c.i++
		c.space()
		return c.visit(func() error { return fn(key, c) })
	})
}

// Array reads the next value, an array, and calls fn with the cursor before each element. fn may read the element or
// leave it. A value of another kind is skipped.
func (c *Cursor) Array(fn func(c *Cursor) error) error {
	if c.Kind() != '[' {
		return c.skip()
	}
	return c.members(']', func() error {
		c.space()
		return c.visit(func() error { return fn(c) })
	})
}

// String reads the next value, a string, and returns it decoded. For a value of another kind, which is skipped, it
// returns "".
func (c *Cursor) String() (string, error) {
	if c.Kind() != '"' {
		return "", c.skip()
	}
	start := c.i
	if err := c.skipString(); err != nil {
		return "", err
	}
	in := c.b[start+1 : c.i-1]
	if plain(in) {
		return string(in), nil
	}
	var s string
	if err := json.Unmarshal(c.b[start:c.i], &s); err != nil {
		return "", ErrSyntax
	}
	return s, nil
}

// key reads a member's key. Common keys cost no allocation.
func (c *Cursor) key() (string, error) {
	if c.i >= len(c.b) || c.b[c.i] != '"' {
		return "", ErrSyntax
	}
	for _, k := range [...]string{
		"type", "text", "role", "content", "tool_use_id", "name", "id", "input", "cache_control", "parts",
	} {
		if end := c.i + len(k) + 2; end <= len(c.b) && c.b[end-1] == '"' && string(c.b[c.i+1:end-1]) == k {
			c.i = end
			return k, nil
		}
	}
	return c.String()
}

// Span calls fn, which reads the next value, and returns the value's bytes as Raw does.
func (c *Cursor) Span(fn func() error) (json.RawMessage, error) {
	c.space()
	start := c.i
	if err := c.visit(fn); err != nil {
		return nil, err
	}
	return json.RawMessage(c.b[start:c.i:c.i]), nil
}

// Int reads the next value, a number, and returns it without its fraction. For a value of another kind, which is
// skipped, and for a number out of range, it returns 0.
func (c *Cursor) Int() (int64, error) {
	kind := c.Kind()
	raw, err := c.Raw()
	if err != nil || (kind != '0' && kind != '-') {
		return 0, err
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f > 1<<53 || f < -(1<<53) {
		return 0, nil //nolint:nilerr // a number out of range is valid JSON: it counts as nothing
	}
	return int64(f), nil
}

// Bool reads the next value and reports whether it is true.
func (c *Cursor) Bool() (bool, error) {
	kind := c.Kind()
	_, err := c.Raw()
	return kind == 't', err
}

// visit lets fn read the value at the cursor, and skips the value if fn left it.
func (c *Cursor) visit(fn func() error) error {
	at := c.i
	if err := fn(); err != nil {
		return err
	}
	if c.i == at {
		return c.skip()
	}
	return nil
}

// members walks the members of an object or array whose opening bracket is next.
func (c *Cursor) members(closing byte, part func() error) error {
	c.depth++
	if c.depth > MaxDepth {
		return ErrSyntax
	}
	c.i++
	c.space()
	if c.i < len(c.b) && c.b[c.i] == closing {
		c.i++
		c.depth--
		return nil
	}
	for {
		if err := part(); err != nil {
			return err
		}
		c.space()
		if c.i >= len(c.b) {
			return ErrSyntax
		}
		c.i++
		switch c.b[c.i-1] {
		case closing:
			c.depth--
			return nil
		case ',':
			c.space()
		default:
			return ErrSyntax
		}
	}
}

func (c *Cursor) space() {
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case ' ', '\n', '\t', '\r':
			c.i++
		default:
			return
		}
	}
}

// skip reads the next value of any kind.
func (c *Cursor) skip() error {
	c.space()
	if c.i >= len(c.b) {
		return ErrSyntax
	}
	switch k := c.b[c.i]; k {
	case '{':
		return c.members('}', c.skipMember)
	case '[':
		return c.members(']', c.skip)
	case '"':
		return c.skipString()
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	default:
		return c.number()
	}
}

func (c *Cursor) skipMember() error {
	if c.i >= len(c.b) || c.b[c.i] != '"' {
		return ErrSyntax
	}
	if err := c.skipString(); err != nil {
		return err
	}
	c.space()
	if c.i >= len(c.b) || c.b[c.i] != ':' {
		return ErrSyntax
	}
	c.i++
	return c.skip()
}

func (c *Cursor) word(w string) error {
	if len(c.b)-c.i < len(w) || string(c.b[c.i:c.i+len(w)]) != w {
		return ErrSyntax
	}
	c.i += len(w)
	return nil
}

func (c *Cursor) number() error {
	i, b := c.i, c.b
	digits := func() bool {
		from := i
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if !digits() {
		return ErrSyntax
	}
	if i < len(b) && b[i] == '.' {
		i++
		if !digits() {
			return ErrSyntax
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return ErrSyntax
		}
	}
	c.i = i
	return nil
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special returns a word whose high bits mark the bytes of w that end a run of plain text in a string: quote, backslash
// and control characters. The lowest mark is exact; higher ones may be wrong because of borrows.
func special(w uint64) uint64 {
	quote := w ^ (ones * '"')
	slash := w ^ (ones * '\\')
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & highs
}

// skipString reads the string whose opening quote is next: eight bytes at a time through plain text, byte by byte right
// after an escape, since source code is full of them.
func (c *Cursor) skipString() error {
	b, i := c.b, c.i+1
	for i < len(b) {
		switch ch := b[i]; {
		case ch == '"':
			c.i = i + 1
			return nil
		case ch == '\\':
			if i+1 < len(b) && simple(b[i+1]) {
				i += 2
				continue
			}
			n := escape(b[i:])
			if n == 0 {
				return ErrSyntax
			}
			i += n
			continue
		case ch < 0x20:
			return ErrSyntax
		}
		i++
		for i+8 <= len(b) {
			m := special(binary.LittleEndian.Uint64(b[i:]))
			if m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
	}
	return ErrSyntax
}

// simple reports whether a byte completes an escape of two bytes.
func simple(ch byte) bool {
	switch ch {
	case 'n', '"', 't', '\\', '/', 'b', 'f', 'r':
		return true
	default:
		return false
	}
}

// escape returns the length of the escape sequence at the beginning of b, 0 if there is none.
func escape(b []byte) int {
	if len(b) < 6 || b[1] != 'u' {
		return 0
	}
	for _, h := range b[2:6] {
		if (h < '0' || h > '9') && (h < 'a' || h > 'f') && (h < 'A' || h > 'F') {
			return 0
		}
	}
	return 6
}

// plain reports whether a string's content has no escapes.
func plain(in []byte) bool {
	for _, ch := range in {
		if ch == '\\' {
			return false
		}
	}
	return utf8.Valid(in)
}
