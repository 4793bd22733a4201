package typing

import (
	"strings"
	"unicode"
)

// Printable removes from a prompt what a terminal could take for keys, and spaces at its ends.
func Printable(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r == '\r':
			return '\n'
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, text)
	return strings.TrimSpace(text)
}

// Lines reports whether a text is typed as several lines.
func Lines(text string) bool { return strings.Contains(Printable(text), "\n") }
