// Package hidden finds characters in text that a person does not see or that show it in another order, such as
// zero-width and bidirectional characters, Unicode tags and terminal escapes, and makes them visible.
//
// It is strict: unlike in thread/plaintext, no such character is harmless because of its neighbours, and blanks other
// than the space count. Letters that only look like others are not found.
package hidden

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"orchestrator/thread/plaintext"
)

// Finding is a kind of hidden characters in a text.
type Finding struct {
	Kind  string // "zero width", "direction", "tag", "control", "blank", "invisible", "not UTF-8"
	Count int
	First int // byte offset of the first one
}

func (f Finding) String() string { return fmt.Sprintf("%s ×%d at byte %d", f.Kind, f.Count, f.First) }

// Find returns what is hidden in a text, by kind in order of the first place. Newlines and tabs are not.
func Find(text string) []Finding {
	var found []Finding
next:
	for i, r := range text {
		kind := kindOf(r)
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				kind = "not UTF-8"
			}
		}
		if kind == "" || r == '\n' || r == '\t' {
			continue
		}
		for k := range found {
			if found[k].Kind == kind {
				found[k].Count++
				continue next
			}
		}
		found = append(found, Finding{Kind: kind, Count: 1, First: i})
	}
	return found
}

// Visible returns a text on one line in which every hidden character is a mark: ␛ for ESC, <U+202E> for others.
func Visible(text string) string {
	var out []byte
	for i, r := range text {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				out = fmt.Appendf(out, "<%02X>", text[i])
				continue
			}
		}
		if kindOf(r) != "" {
			out = plaintext.AppendMark(out, r)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// kindOf returns why a character is hidden; empty if it is not.
func kindOf(r rune) string {
	switch {
	case r >= 0x20 && r < 0x7f:
		return ""
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return "control"
	case r >= 0xe0000 && r <= 0xe007f:
		return "tag"
	case r == 0x61c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return "direction"
	case r >= 0x200b && r <= 0x200d, r == 0x2060, r == 0xfeff, r == 0xad:
		return "zero width"
	case unicode.IsSpace(r), r == 0x2800, r == 0x180e:
		return "blank"
	case !plaintext.Visible(r):
		return "invisible"
	}
	return ""
}
