package archive

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestClip: what an error quotes is cut between letters.
func TestClip(t *testing.T) {
	for _, letter := range []string{"x", "é", "缓", "🚀"} {
		for lead := range 4 {
			s := clip(strings.Repeat("a", lead) + strings.Repeat(letter, 100))
			if !utf8.ValidString(s) || len(s) > 80+len("…") || len(s) < 76 {
				t.Errorf("%q", s)
			}
		}
	}
}
