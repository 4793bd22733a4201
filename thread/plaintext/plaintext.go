// Package plaintext makes text of agents, models, repositories and stores harmless on a terminal.
//
// What leaves it is UTF-8 and holds no control character but newline and tab, no escape sequence,
// nothing that reorders text and nothing that hides in it. What a terminal would act on, and what a
// person could not see, is shown as a mark: ␛ for ESC and the like for the other ASCII controls,
// <U+202E> for the rest, U+FFFD for bytes that are no UTF-8. In JSON it becomes \u202e, which is
// the same value. A carriage return before a newline is dropped. Everything else passes unchanged, also what
// joins or varies characters where a script or an emoji has a use for it: 👨‍👩‍👧, ❤️, می‌خواهم.
//
// Marks are harmless text themselves: cleaning twice is cleaning once.
package plaintext

import (
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// Text returns s harmless, with its newlines and tabs.
func Text(s string) string {
	if printable(s) {
		return s
	}
	c := cleaner{mark: AppendMark}
	return string(c.finish(c.append(make([]byte, 0, len(s)+16), s)))
}

// Line returns s harmless and as one line: newlines and tabs become spaces.
func Line(s string) string {
	if printable(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, Text(s))
}

// printable reports whether every byte is a printable one of ASCII.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// AppendMark appends what is shown in place of a rune.
func AppendMark(dst []byte, r rune) []byte {
	switch {
	case r < 0x20:
		return utf8.AppendRune(dst, 0x2400+r) // control pictures: ␛ for ESC
	case r == 0x7f:
		return append(dst, "␡"...)
	}
	return append(appendHex(append(dst, "<U+"...), r, "0123456789ABCDEF"), '>')
}

// appendJSON appends a rune as a string of JSON spells it.
func appendJSON(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	if r < 0x10000 {
		return appendHex(append(dst, `\u`...), r, digits)
	}
	r -= 0x10000
	dst = appendHex(append(dst, `\u`...), 0xd800+r>>10, digits)
	return appendHex(append(dst, `\u`...), 0xdc00+r&0x3ff, digits)
}

// appendHex appends a rune in four digits or more.
func appendHex(dst []byte, r rune, digits string) []byte {
	shift := 12
	for r>>(shift+4) != 0 {
		shift += 4
	}
	for ; shift >= 0; shift -= 4 {
		dst = append(dst, digits[r>>shift&15])
	}
	return dst
}

// Writer passes text on, harmless. It holds back only what cannot be judged yet: the beginning of a
// character, or a carriage return or joiner whose next character is still to come; Flush ends that.
// It is safe for concurrent use.
type Writer struct {
	w io.Writer

	// mu guards what follows, and the order of what is written.
	mu      sync.Mutex
	cleaner cleaner
	buf     []byte
}

// NewWriter returns a writer to w for text.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, cleaner: cleaner{mark: AppendMark}} }

// NewJSONWriter returns a writer to w for JSON: what is harmful there stands in strings, where it is
// escaped. Values stay as they are.
func NewJSONWriter(w io.Writer) *Writer { return &Writer{w: w, cleaner: cleaner{mark: appendJSON}} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = w.cleaner.append(w.buf[:0], string(p))
	if err := w.out(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what was held back. What follows is a text of its own.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = w.cleaner.finish(w.buf[:0])
	return w.out()
}

// maxKept bounds the buffer that is kept between two calls.
const maxKept = 64 << 10

func (w *Writer) out() error {
	if len(w.buf) == 0 {
		return nil
	}
	_, err := w.w.Write(w.buf)
	if cap(w.buf) > maxKept {
		w.buf = nil
	}
	return err
}

// cleaner is the one place that decides; texts may come in pieces.
type cleaner struct {
	mark func(dst []byte, r rune) []byte
	prev rune   // what the next character may join or vary; 0 is nothing
	held rune   // judged by what follows; 0 is nothing
	part string // the beginning of a character
}

// append appends what can be judged of s.
func (c *cleaner) append(dst []byte, s string) []byte {
	if c.part != "" {
		s, c.part = c.part+s, ""
	}
	for s != "" {
		if n := plainRun(s); n > 0 {
			dst = c.release(dst, rune(s[0]))
			dst = append(dst, s[:n]...)
			if c.prev = rune(s[n-1]); c.prev < 0x20 {
				c.prev = 0
			}
			s = s[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 && !utf8.FullRuneInString(s) {
			c.part = s
			return dst
		}
		dst = c.rune(c.release(dst, r), r)
		s = s[n:]
	}
	return dst
}

// finish appends what was held back.
func (c *cleaner) finish(dst []byte) []byte {
	dst = c.release(dst, 0)
	for range len(c.part) {
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	c.prev, c.part = 0, ""
	return dst
}

// plainRun returns how many bytes of printable ASCII, newlines and tabs s begins with.
func plainRun(s string) int {
	n := 0
	for n < len(s) && (s[n] >= 0x20 && s[n] <= 0x7e || s[n] == '\n' || s[n] == '\t') {
		n++
	}
	return n
}

// release appends what was held, now that the character behind it is known.
func (c *cleaner) release(dst []byte, next rune) []byte {
	r := c.held
	if r == 0 {
		return dst
	}
	c.held = 0
	switch {
	case r == '\r' && next == '\n':
		return dst
	case r != '\r' && joins(c.prev, r, next):
		c.prev = r
		return utf8.AppendRune(dst, r)
	}
	c.prev = 0
	return c.mark(dst, r)
}

// rune appends one character, or holds it.
func (c *cleaner) rune(dst []byte, r rune) []byte {
	switch {
	case r == '\r', mayJoin(c.prev, r):
		c.held = r
		return dst
	case varies(c.prev, r):
		c.prev = r
		return utf8.AppendRune(dst, r)
	case !Visible(r):
		c.prev = 0
		return c.mark(dst, r)
	case !combines(r): // a mark above a letter leaves it what it is
		c.prev = r
	}
	return utf8.AppendRune(dst, r)
}

// Cut returns the beginning of a text, at most n bytes of whole characters.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}
