// Package plaintext makes text from agents, models, repositories and stores safe to print on a terminal.
//
// Its output is UTF-8 without control characters except newline and tab, without escape sequences, and without
// characters that reorder text or are invisible. Characters that a terminal would act on, or that a person could not
// see, are shown as marks: ␛ for ESC and the like for the other ASCII controls, <U+202E> for the rest, U+FFFD for bytes
// that are not UTF-8. In JSON they become \u202e, which is the same value. A carriage return before a newline is
// dropped. Everything else is unchanged, including characters that join or vary others where a script or an emoji uses
// them: 👨‍👩‍👧, ❤️, می‌خواهم.
//
// Marks are plain text themselves: cleaning is idempotent.
package plaintext

import (
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// Text returns s cleaned, with its newlines and tabs.
func Text(s string) string {
	if printable(s) {
		return s
	}
	c := cleaner{mark: AppendMark}
	return string(c.finish(c.append(make([]byte, 0, len(s)+16), s)))
}

// Line returns s cleaned and on one line: newlines and tabs become spaces.
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

// printable reports whether every byte is printable ASCII.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// AppendMark appends the mark of a rune.
func AppendMark(dst []byte, r rune) []byte {
	switch {
	case r < 0x20:
		return utf8.AppendRune(dst, 0x2400+r) // control pictures: ␛ for ESC
	case r == 0x7f:
		return append(dst, "␡"...)
	}
	return append(appendHex(append(dst, "<U+"...), r, "0123456789ABCDEF"), '>')
}

// appendJSON appends a rune as a JSON escape.
func appendJSON(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	if r < 0x10000 {
		return appendHex(append(dst, `\u`...), r, digits)
	}
	r -= 0x10000
	dst = appendHex(append(dst, `\u`...), 0xd800+r>>10, digits)
	return appendHex(append(dst, `\u`...), 0xdc00+r&0x3ff, digits)
}

// appendHex appends a rune in four or more hex digits.
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

// Writer cleans the text written to it. It holds back only what cannot be judged yet: an incomplete character, or a
// carriage return or joiner before its next character is known; Flush writes it. It is safe for concurrent use.
type Writer struct {
	w io.Writer

	// mu guards the fields below, and the order of the output.
	mu      sync.Mutex
	cleaner cleaner
	buf     []byte
}

// NewWriter returns a Writer of text to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, cleaner: cleaner{mark: AppendMark}} }

// NewJSONWriter returns a Writer of JSON to w: harmful characters can only be in strings, where they are escaped.
// Values stay the same.
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

// Flush writes what was held back. The next Write starts a new text.
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

// cleaner cleans a text that may come in pieces.
type cleaner struct {
	mark func(dst []byte, r rune) []byte
	prev rune   // what the next character may join or vary; 0 is nothing
	held rune   // judged by what follows; 0 is nothing
	part string // an incomplete character
}

// append appends the part of s that can be judged.
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

// release appends what was held, now that the next character is known.
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

// rune appends one character, or holds it back.
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
	case !combines(r): // a mark above a letter does not change what it is
		c.prev = r
	}
	return utf8.AppendRune(dst, r)
}

// Cut returns the beginning of a text, at most n bytes of whole characters. Of what is not text it loses no more than
// one would have.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	at := n
	for at > max(n-utf8.UTFMax, 0) && !utf8.RuneStart(s[at]) {
		at--
	}
	return s[:at]
}

// Short returns a text that has at most n characters, the last of which says that it was longer.
func Short(s string, n int) string {
	if r := []rune(Cut(s, utf8.UTFMax*(n+1))); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
