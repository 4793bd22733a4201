// Package burst tells keys that a person presses one by one from text that arrives at once: a paste without
// brackets, a line that another program types, dictation.
//
// The terminal library hands over one key after the other and says nothing of how they came. Reader therefore
// puts a mark before and behind what one read brought when it holds two printable characters or more, and
// Filter turns the marks into messages, in their place among the keys. A mark never falls into an escape
// sequence, a character of several bytes or a bracketed paste, and nothing that was read is changed or held
// back. A single character that is read alone is never part of a burst, whatever comes behind it.
package burst

import (
	"bytes"
	"os"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
)

// Msg begins a burst, or ends it. The keys between the two came in one read.
type Msg struct{ On bool }

// The marks are control sequences that no terminal sends.
const (
	begin = "\x1b[?7331;1z"
	end   = "\x1b[?7331;0z"
)

// Filter translates a mark; every other message is returned as it is.
func Filter(msg tea.Msg) tea.Msg {
	if unknown, ok := msg.(uv.UnknownCsiEvent); ok {
		switch string(unknown) {
		case begin:
			return Msg{On: true}
		case end:
			return Msg{}
		}
	}
	return msg
}

// escapeTimeout is how long the terminal library certainly waits no longer for the rest of an escape sequence.
const escapeTimeout = 2 * uv.DefaultEscTimeout

// Reader reads a terminal. It is the file for everything but reading. One goroutine reads at a time.
type Reader struct {
	*os.File
	scan scanner
	read time.Time // when the last read ended
}

// NewReader makes a reader of a terminal.
func NewReader(f *os.File) *Reader { return &Reader{File: f} }

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	room := len(p) - len(begin) - len(end)
	if room <= 0 {
		return r.File.Read(p)
	}
	n, err := r.File.Read(p[:room])
	now := time.Now()
	if now.Sub(r.read) >= escapeTimeout {
		r.scan.expire()
	}
	r.read = now
	return copy(p, r.scan.mark(p[:n])), err
}

// part is the part of its grammar that a scanner is in.
type part int

const (
	ground  part = iota
	escape       // behind ESC
	control      // in a control sequence
	single       // behind ESC O: one byte more
	text         // in a string that ST or BEL ends
	textEnd      // behind an ESC in such a string
	letter       // in a character of several bytes
	paste        // in a bracketed paste
)

// scanner follows what a terminal sends.
type scanner struct {
	at   part
	seq  []byte // of a control sequence, as far as it matters
	rest int    // bytes that a character lacks
	tail []byte // the last bytes of a paste
}

// Bounds of what is kept of a sequence.
const maxSequence = 16

var pasteEnd = []byte("\x1b[201~")

// expire gives up on an escape sequence whose rest did not come in time.
func (s *scanner) expire() {
	if s.at != paste {
		s.at = ground
	}
}

// mark returns what was read with a burst in it marked.
func (s *scanner) mark(b []byte) []byte {
	from, to, printable := 0, 0, 0 // from the first printable character to where nothing is cut
	for i, c := range b {
		if s.next(c) {
			if printable++; printable == 1 {
				from = i
			}
		}
		if s.at == ground {
			to = i + 1
		}
	}
	if printable < 2 {
		return b
	}
	out := make([]byte, 0, len(b)+len(begin)+len(end))
	out = append(append(out, b[:from]...), begin...)
	out = append(append(out, b[from:to]...), end...)
	return append(out, b[to:]...)
}

// next takes a byte and reports whether it begins a printable character that was typed.
func (s *scanner) next(c byte) bool {
	switch s.at {
	case ground:
		return s.typed(c)
	case escape:
		s.escaped(c)
	case control:
		if len(s.seq) < maxSequence {
			s.seq = append(s.seq, c)
		}
		if c >= 0x40 && c <= 0x7e {
			s.at = ground
			if string(s.seq) == "200~" {
				s.at, s.tail = paste, nil
			}
		}
	case single:
		s.at = ground
	case text:
		switch c {
		case '\a':
			s.at = ground
		case 0x1b:
			s.at = textEnd
		}
	case textEnd:
		s.at = ground
	case letter:
		if s.rest--; s.rest <= 0 {
			s.at = ground
		}
	case paste:
		s.tail = append(s.tail, c)
		if n := len(s.tail); n > len(pasteEnd) {
			s.tail = s.tail[n-len(pasteEnd):]
		}
		if bytes.Equal(s.tail, pasteEnd) {
			s.at = ground
		}
	}
	return false
}

// typed takes a byte that is no part of a sequence.
func (s *scanner) typed(c byte) bool {
	switch {
	case c == 0x1b:
		s.at = escape
		return false
	case c < 0x20 || c == 0x7f:
		return false
	case c < utf8.RuneSelf:
		return true
	}
	for lead, n := byte(0xc0), 1; n <= 3; n++ { // 110…, 1110…, 11110…
		if mask := lead | lead>>1; c&mask == lead {
			s.at, s.rest = letter, n
			return true
		}
		lead |= lead >> 1
	}
	return false // no character begins so
}

// escaped takes the byte behind ESC.
func (s *scanner) escaped(c byte) {
	switch c {
	case '[':
		s.at, s.seq = control, s.seq[:0]
	case 'O':
		s.at = single
	case ']', 'P', '_', '^', 'X':
		s.at = text
	case 0x1b: // alt with escape, or the beginning of another sequence
	default:
		s.at = ground
	}
}
