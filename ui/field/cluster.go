package field

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// first returns the number of runes of the first character of a text: a letter with its marks, or a composed emoji.
func first(s string) int {
	g := displaywidth.StringGraphemes(s)
	if !g.Next() {
		return 0
	}
	return utf8.RuneCountInString(g.Value())
}

// last returns the number of runes of the last character of a text.
func last(s string) int {
	n := 0
	for g := displaywidth.StringGraphemes(s); g.Next(); {
		n = utf8.RuneCountInString(g.Value())
	}
	return n
}

// whole returns the position at or before n, in runes, that is between two characters.
func whole(s string, n int) int {
	at := 0
	for g := displaywidth.StringGraphemes(s); g.Next(); {
		next := at + utf8.RuneCountInString(g.Value())
		if next > n {
			break
		}
		at = next
	}
	return at
}

// wordStart returns where the last word of a text starts.
func wordStart(s string) int {
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	i := strings.LastIndexFunc(s, unicode.IsSpace)
	if i < 0 {
		return 0
	}
	_, size := utf8.DecodeRuneInString(s[i:])
	return i + size
}
