// Package burst tells single key presses from text that arrives at once: a paste without brackets, a line typed by
// another program, dictation.
//
// The terminal library delivers keys one by one and does not say how they arrived. So Reader puts marks around the
// bytes of a read that has two or more printable characters, and Filter turns the marks into messages between the keys.
// A mark is never inside an escape sequence, a multi-byte character or a bracketed paste, and no input is changed; only
// the beginning of a paste's end marker is held back. A character that is read alone is never part of a burst, whatever follows it.
package burst

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
)

// Msg starts or ends a burst. The keys between the two came in one read; Text is what the read brought, from its first
// printable character on.
type Msg struct {
	On   bool
	Text string
}

// The marks are control sequences that no terminal sends.
const (
	begin = "\x1b[?7331;1z"
	end   = "\x1b[?7331;0z"
)

// Filter translates marks, and returns every other message unchanged.
func (r *Reader) Filter(msg tea.Msg) tea.Msg {
	if unknown, ok := msg.(uv.UnknownCsiEvent); ok {
		switch string(unknown) {
		case begin:
			return Msg{On: true, Text: r.nextText()}
		case end:
			return Msg{}
		}
	}
	return msg
}

// escapeTimeout is more than how long the terminal library waits for the rest of an escape sequence.
const escapeTimeout = 2 * uv.DefaultEscTimeout

// Reader reads from a terminal. For everything but reading it is the file. Only one goroutine may read at a time.
type Reader struct {
	*os.File
	scan scanner
	held []byte    // the beginning of an end marker, in a paste
	read time.Time // when the last read ended

	mu    sync.Mutex // guards texts: messages are filtered by another goroutine
	texts []string   // of the bursts whose marks are on their way
}

func (r *Reader) nextText() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.texts) == 0 {
		return ""
	}
	text := r.texts[0]
	r.texts = r.texts[1:]
	return text
}

// marked marks the burst in what was read.
func (r *Reader) marked(b []byte) []byte {
	out := r.scan.mark(b)
	if text := r.scan.burst; text != "" {
		r.mu.Lock()
		r.texts = append(r.texts, text)
		r.mu.Unlock()
	}
	return out
}

// ErrHungUp is how reading ends when the terminal is gone. The terminal library takes io.EOF for the end of some input,
// and would go on without any; a process that controls the terminal gets a signal, one in a session of its own does not.
var ErrHungUp = errors.New("the terminal is gone")

// NewReader returns a reader for a terminal.
func NewReader(f *os.File) *Reader { return &Reader{File: f} }

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	room := len(p) - len(begin) - len(end) - 2*len(pasteEnd)
	if room <= 0 {
		n, err := r.File.Read(p)
		return n, hungUp(err)
	}
	n, err := r.File.Read(p[:room])
	now := time.Now()
	if now.Sub(r.read) >= escapeTimeout {
		r.scan.expire()
	}
	silent := now.Sub(r.read) >= pasteSilence
	r.read = now
	return copy(p, r.pass(p[:n], silent)), hungUp(err)
}

// pasteSilence is how long a paste must have been silent until a single key is no longer part of it.
const pasteSilence = 3 * time.Second

// pass returns what is read of some bytes. In a paste the beginning of an end marker is held back until its rest comes:
// the terminal library would take its ESC for a key after a moment, and never find the end. A paste without an end is
// ended by ctrl+c and ctrl+q, and by any single key after a silence.
func (r *Reader) pass(b []byte, silent bool) []byte {
	if r.scan.at != paste || len(b) == 0 {
		return r.hold(r.marked(b))
	}
	whole := append(r.held, b...)
	if r.held = nil; !bytes.HasPrefix(pasteEnd, whole) && (interrupts(b) || silent && alone(b)) {
		whole = append(bytes.Clone(pasteEnd), b...)
		r.scan.tail = nil
	}
	return r.hold(r.marked(whole))
}

// hold holds back the beginning of an end marker at the end of a paste so far.
func (r *Reader) hold(b []byte) []byte {
	if r.scan.at != paste {
		return b
	}
	for n := min(len(pasteEnd)-1, len(r.scan.tail)); n > 0; n-- {
		if bytes.HasSuffix(r.scan.tail, pasteEnd[:n]) {
			r.held = bytes.Clone(pasteEnd[:n])
			r.scan.tail = r.scan.tail[:len(r.scan.tail)-n]
			return b[:len(b)-n]
		}
	}
	return b
}

// interrupts reports whether bytes are ctrl+c or ctrl+q alone, in any of the encodings of terminals.
func interrupts(b []byte) bool {
	switch string(b) {
	case "\x03", "\x11", "\x1b[99;5u", "\x1b[113;5u", "\x1b[99;5:1u", "\x1b[113;5:1u", "\x1b[27;5;99~", "\x1b[27;5;113~":
		return true
	}
	return false
}

// alone reports whether bytes are one key, and no report of the terminal such as of the mouse or the focus.
func alone(b []byte) bool {
	if b[0] != 0x1b {
		_, n := utf8.DecodeRune(b)
		return n == len(b)
	}
	var s scanner
	for i, c := range b {
		if s.next(c); s.at == ground && i < len(b)-1 {
			return false
		}
	}
	switch {
	case len(b) == 1:
		return true
	case s.at != ground:
		return false
	case b[1] != '[':
		return len(b) == 2 || b[1] == 'O'
	}
	return !bytes.ContainsAny(b[2:3], "<?>=") && bytes.IndexByte([]byte("ABCDEFHPQSZ~u"), b[len(b)-1]) >= 0
}

func hungUp(err error) error {
	if errors.Is(err, io.EOF) {
		return ErrHungUp
	}
	return err
}

// part is the state of a scanner.
type part int

const (
	ground  part = iota
	escape       // after ESC
	control      // in a control sequence
	single       // after ESC O: one more byte
	text         // in a string ended by ST or BEL
	textEnd      // after an ESC in such a string
	letter       // in a multi-byte character
	paste        // in a bracketed paste
)

// scanner parses what a terminal sends.
type scanner struct {
	at   part
	seq  []byte // the relevant bytes of a control sequence
	rest int    // missing bytes of a character
	tail []byte // the last bytes of a paste

	burst string // the text of the burst in the last read, "" if there was none
}

// Limits on what is kept of a sequence.
const maxSequence = 16

var pasteEnd = []byte("\x1b[201~")

// expire gives up on an escape sequence that was not completed in time.
func (s *scanner) expire() {
	if s.at != paste {
		s.at = ground
	}
}

// mark returns the bytes of a read, with marks around a burst.
func (s *scanner) mark(b []byte) []byte {
	from, to, printable := 0, 0, 0 // from the first printable character to a point between sequences
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
	if s.burst = ""; printable < 2 {
		return b
	}
	s.burst = string(b[from:to])
	out := make([]byte, 0, len(b)+len(begin)+len(end))
	out = append(append(out, b[:from]...), begin...)
	out = append(append(out, b[from:to]...), end...)
	return append(out, b[to:]...)
}

// next scans a byte and reports whether it starts a typed printable character.
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

// typed scans a byte that is not part of a sequence.
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
	return false // not the start of a character
}

// escaped scans the byte after ESC.
func (s *scanner) escaped(c byte) {
	switch c {
	case '[':
		s.at, s.seq = control, s.seq[:0]
	case 'O':
		s.at = single
	case ']', 'P', '_', '^', 'X':
		s.at = text
	case 0x1b: // alt with escape, or the start of another sequence
	default:
		s.at = ground
	}
}
