package program

import (
	"bytes"
	"unicode/utf8"
)

// kind of key.
type kind int

const (
	keyRune kind = iota
	keyPaste
	keyEnter
	keyNewline
	keyEscape
	keyBackspace
	keyLeft
	keyRight
	keyUp
	keyDown
	keyHome
	keyEnd
	keyClear // ctrl-u
	keyCtrlC
	keyCtrlD
)

// key is one key, or a text that was pasted.
type key struct {
	kind kind
	text string
}

var (
	pasteBegin = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// sequences are the keys that send more than one byte.
var sequences = map[string]kind{
	"\x1b[A": keyUp, "\x1b[B": keyDown, "\x1b[C": keyRight, "\x1b[D": keyLeft,
	"\x1bOA": keyUp, "\x1bOB": keyDown, "\x1bOC": keyRight, "\x1bOD": keyLeft,
	"\x1b[H": keyHome, "\x1b[F": keyEnd, "\x1bOH": keyHome, "\x1bOF": keyEnd, "\x1b[1~": keyHome, "\x1b[4~": keyEnd,
}

// maxPaste limits a paste without an end.
const maxPaste = 4 << 20

// parser converts bytes to keys; an incomplete key waits for the next bytes.
type parser struct {
	rest    []byte
	pasting bool
}

// parse returns the keys of some bytes. An escape at the end of a read is the key itself.
func (p *parser) parse(b []byte) []key {
	p.rest = append(p.rest, b...)
	var keys []key
	for len(p.rest) > 0 {
		if p.pasting {
			end := bytes.Index(p.rest, pasteEnd)
			if end < 0 && len(p.rest) < maxPaste {
				return keys
			}
			after := end + len(pasteEnd)
			if end < 0 {
				end, after = len(p.rest), len(p.rest)
			}
			keys = append(keys, key{keyPaste, string(bytes.ReplaceAll(p.rest[:end], []byte("\r"), []byte("\n")))})
			p.rest, p.pasting = p.rest[after:], false
			continue
		}
		if bytes.HasPrefix(p.rest, pasteBegin) {
			p.rest, p.pasting = p.rest[len(pasteBegin):], true
			continue
		}
		k, n, ok := one(p.rest)
		if n == 0 {
			return keys // incomplete
		}
		p.rest = p.rest[n:]
		if ok {
			keys = append(keys, k)
		}
	}
	return keys
}

// one reads a key: its length, 0 if more bytes are needed, and whether it means anything here.
func one(b []byte) (key, int, bool) {
	switch c := b[0]; c {
	case '\r':
		return key{kind: keyEnter}, 1, true
	case '\n':
		return key{kind: keyNewline}, 1, true
	case 0x7f, 0x08:
		return key{kind: keyBackspace}, 1, true
	case 0x01:
		return key{kind: keyHome}, 1, true
	case 0x05:
		return key{kind: keyEnd}, 1, true
	case 0x03:
		return key{kind: keyCtrlC}, 1, true
	case 0x04:
		return key{kind: keyCtrlD}, 1, true
	case 0x15:
		return key{kind: keyClear}, 1, true
	case 0x1b:
		return escape(b)
	default:
		if c < 0x20 {
			return key{}, 1, false
		}
	}
	if !utf8.FullRune(b) {
		return key{}, 0, false
	}
	r, n := utf8.DecodeRune(b)
	return key{keyRune, string(r)}, n, r != utf8.RuneError
}

// escape reads a sequence that begins with escape.
func escape(b []byte) (key, int, bool) {
	if len(b) == 1 {
		return key{kind: keyEscape}, 1, true
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				k, ok := sequences[string(b[:i+1])]
				return key{kind: k}, i + 1, ok
			}
			if i > 64 {
				return key{}, i, false
			}
		}
		return key{}, 0, false
	case 'O':
		if len(b) < 3 {
			return key{}, 0, false
		}
		k, ok := sequences[string(b[:3])]
		return key{kind: k}, 3, ok
	case ']', 'P', '_', '^': // the terminal's answer to a query that was not sent
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 || b[i] == '\\' && b[i-1] == 0x1b {
				return key{}, i + 1, false
			}
		}
		return key{}, 0, false
	case '\r':
		return key{kind: keyNewline}, 2, true
	default:
		return key{kind: keyEscape}, 1, true
	}
}
