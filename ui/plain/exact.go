package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orchestrator/thread/plaintext"
)

// Exact returns s as one safe line in which everything can be told apart: where Line drops a character or draws another
// one in its place, such as a space for a newline, there is a mark. It is for commands that a person has to judge.
func Exact(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			const hex = "0123456789ABCDEF"
			b.WriteString(`<\x`)
			b.WriteByte(hex[s[i]>>4])
			b.WriteByte(hex[s[i]&15])
			b.WriteByte('>')
		case r >= 0x20 && r < 0x7f, stands(r):
			b.WriteRune(r)
		default:
			var buf [16]byte
			b.Write(plaintext.AppendMark(buf[:0], r))
		}
	}
	return b.String()
}

// stands reports whether a character beyond ASCII is drawn as itself, in cells of its own.
func stands(r rune) bool {
	return r > 0x7f && plaintext.Visible(r) && Width(string(r)) > 0 && !unicode.IsSpace(r) &&
		!unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Variation_Selector) && !(r >= 0x1f3fb && r <= 0x1f3ff)
}
