package styled

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	"pgregory.net/rapid"
)

// The property tests run the same everywhere; -rapid.seed on the command line wins.
var _ = flag.Set("rapid.seed", "1")

func show(lines []Line) string {
	var out []string
	for _, l := range lines {
		s := ""
		for _, sp := range l.Spans {
			s += fmt.Sprintf("<%d:%s>", sp.Tok, sp.Text)
		}
		out = append(out, s)
	}
	return strings.Join(out, "|")
}

func TestWrap(t *testing.T) {
	a, b := Span{Text: "one two", Tok: 1}, Span{Text: " three", Tok: 2}
	for _, c := range []struct{ name, got, want string }{
		{"fits", show(Wrap(20, a, b)), "<1:one two><2: three>"},
		{"between spans", show(Wrap(8, a, b)), "<1:one two>|<2:three>"},
		{"in a span", show(Wrap(5, a, b)), "<1:one>|<1:two>|<2:three>"},
		{"a word of two spans", show(Wrap(4, Span{Text: "x ab", Tok: 1}, Span{Text: "cd", Tok: 2})),
			"<1:x>|<1:ab><2:cd>"},
		{"equal neighbours", show(Wrap(9, a, a)), "<1:one>|<1:twoone>|<1:two>"},
		{"nothing", show(Wrap(5)), ""},
		{"anywhere", show(Break(5, a, b)), "<1:one >|<1:two><2: >|<2:three>"},
		{"indent", show(Indent(Wrap(3, a), Span{Text: "• "}, Span{Text: "  "})), "<0:• ><1:one>|<0:  ><1:two>"},
		{"all", show(WrapAll(4, 3, []string{"a b", "", "cc dd"})), "<3:a b>||<3:cc>|<3:dd>"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// Spans are broken where their text is, and each piece keeps its meaning.
func TestWrapIsThatOfTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var spans []Span
		for range rapid.IntRange(0, 5).Draw(t, "spans") {
			text := rapid.StringOf(rapid.SampledFrom([]rune("ab -日"))).Draw(t, "text")
			spans = append(spans, Span{Text: text, Tok: theme.Token(rapid.IntRange(0, 2).Draw(t, "token"))})
		}
		w, anywhere := rapid.IntRange(1, 9).Draw(t, "width"), rapid.Bool().Draw(t, "anywhere")
		var tokens []theme.Token // of each byte
		for _, s := range spans {
			for range len(s.Text) {
				tokens = append(tokens, s.Tok)
			}
		}
		lines, n := split(spans, w, anywhere), 0
		for start, end := range plain.Breaks(join(spans), w, anywhere) {
			if got, want := lines[n].Text(), join(spans)[start:end]; got != want {
				t.Fatalf("line %d is %q, want %q", n, got, want)
			}
			for _, s := range lines[n].Spans {
				for range len(s.Text) {
					if s.Tok != tokens[start] {
						t.Fatalf("line %d: %q has token %d, want %d", n, s.Text, s.Tok, tokens[start])
					}
					start++
				}
			}
			n++
		}
		if n != len(lines) {
			t.Fatalf("%d lines, want %d", len(lines), n)
		}
	})
}
