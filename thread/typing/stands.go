package typing

import (
	"slices"
	"strings"
	"unicode"
)

// enough is how many characters of a long text tell that it is the one: inputs scroll.
const enough = 12

// Stands reports whether an input that shows something holds a text and nothing else. Inputs wrap a text, leave
// out what they cannot draw, and show only the beginning or the end of a long one.
func Stands(shown, text string) bool {
	seen, want := bare(shown), bare(text)
	switch {
	case len(want) == 0:
		return len(seen) == 0
	case len(seen) < enough || len(seen) >= len(want):
		return slices.Equal(seen, want)
	}
	return slices.Equal(seen, want[len(want)-len(seen):]) || slices.Equal(seen, want[:len(seen)])
}

// Within counts where a screen shows the end of a text, or its beginning where that was scrolled away.
func Within(screen, text string) int {
	seen, want := string(bare(screen)), bare(text)
	if len(want) == 0 {
		return 0
	}
	n := min(len(want), enough)
	return max(strings.Count(seen, string(want[len(want)-n:])), strings.Count(seen, string(want[:n])))
}

// bare is a text without white space and without what has no width of its own.
func bare(s string) []rune {
	var out []rune
	for _, r := range s {
		if unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && r != unicode.ReplacementChar {
			out = append(out, r)
		}
	}
	return out
}
