package summary

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orchestrator/thread/plaintext"
)

// cutWords returns the first words of a text, at most so many bytes; a word is never cut, since a part of a name is
// another name.
func cutWords(text string, size int) string {
	if len(text) <= size {
		return text
	}
	size = len(plaintext.Cut(text, size))
	if next, _ := utf8.DecodeRuneInString(text[size:]); !unicode.IsSpace(next) {
		size = max(0, strings.LastIndexFunc(text[:size], unicode.IsSpace))
	}
	return strings.TrimSpace(text[:size])
}
