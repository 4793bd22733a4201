package match

import (
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
)

// stem returns the stem of an English word. A word with other letters or digits is its own.
func stem(w string) string {
	if strings.ContainsFunc(w, func(r rune) bool { return r > unicode.MaxASCII || unicode.IsDigit(r) }) {
		return w
	}
	return english.Stem(w, true)
}
