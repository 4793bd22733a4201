package typing

import (
	"slices"
	"strings"
	"unicode"
)

// enough is how many characters of a long text identify it: inputs scroll.
const enough = 12

// Match is how the content of an input compares with a text that was typed into it.
type Match int

// The matches, worst first.
const (
	Other   Match = iota // something else is there, perhaps with the text
	Begun                // nothing yet, or the beginning of the text
	Altered              // its beginning and its end, with something else in between: agents show images like that
	Whole                // the text, or as much of the end of a long one as the input shows
)

// Compare compares the content of an input with a text that was typed into it when it was empty. Inputs wrap a text and
// leave out what they cannot draw.
func Compare(shown, text string) Match {
	seen, want := bare(shown), bare(text)
	more := len(seen) < len(want)
	switch {
	case slices.Equal(seen, want), more && len(seen) >= enough && slices.Equal(seen, want[len(want)-len(seen):]):
		return Whole
	case more && slices.Equal(seen, want[:len(seen)]):
		return Begun
	case strings.Contains(string(seen), string(want)):
		return Other
	}
	n := min(len(seen), len(want), edge)
	begins := seen[0] == '[' || slices.Equal(seen[:n], want[:n])
	ends := seen[len(seen)-1] == ']' || slices.Equal(seen[len(seen)-n:], want[len(want)-n:])
	if begins && ends {
		return Altered
	}
	return Other
}

// edge is how many characters count as the beginning or the end of a text.
const edge = 4

// Within counts the places where a screen shows the end of a text, or its beginning if that was scrolled away.
func Within(screen, text string) int {
	seen, want := string(bare(screen)), bare(text)
	if len(want) == 0 {
		return 0
	}
	n := min(len(want), enough)
	return max(strings.Count(seen, string(want[len(want)-n:])), strings.Count(seen, string(want[:n])))
}

// bare is a text without white space and zero-width characters.
func bare(s string) []rune {
	var out []rune
	for _, r := range s {
		if unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && r != unicode.ReplacementChar {
			out = append(out, r)
		}
	}
	return out
}
