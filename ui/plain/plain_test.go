package plain

import (
	"flag"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// The property tests run the same everywhere; -rapid.seed on the command line wins.
var _ = flag.Set("rapid.seed", "1")

func TestLine(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain text", "plain text"},
		{"a\nb\tc", "a b c"},
		{"\x1b[31mred\x07", "␛[31mred␇"},
		{"\u009b31m", "<U+009B>31m"},
		{"abc\u202etxt", "abc<U+202E>txt"},
		{"zero\u200bwidth", "zero<U+200B>width"},
		{"tag\U000e0041", "tag<U+E0041>"},
		{"日本語", "日本語"},
		{"👍🏽", "👍"},
		{"👨\u200d👩", "👨👩"},
		{"a\u200db", "a<U+200D>b"},
		{"❤\ufe0f", "❤"},
		{"e\u0301", "e\u0301"},
		{"z\u0301\u0301\u0301\u0301\u0301", "z\u0301\u0301\u0301"},
		{"bad\xff", "bad\ufffd"},
		{"\x7f", "␡"},
	} {
		if got := Line(c.in); got != c.want {
			t.Errorf("Line(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestLinesExpandTabs(t *testing.T) {
	got := Lines("a\tb\r\n\tc\n日\tx")
	want := []string{"a   b", "    c", "日  x"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in   string
		w    int
		want string
	}{
		{"one two three", 7, "one two|three"},
		{"one two three", 8, "one two|three"},
		{"abcdefgh", 3, "abc|def|gh"},
		{"日本語", 4, "日本|語"},
		{"a bcdefgh", 4, "a|bcde|fgh"},
		{"", 4, ""},
		{"abc ", 3, "abc"},
	} {
		if got := strings.Join(Wrap(c.in, c.w), "|"); got != c.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.in, c.w, got, c.want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in   string
		w    int
		want string
	}{{"abcdef", 4, "abc…"}, {"abc", 3, "abc"}, {"日本語", 4, "日…"}, {"abc", 0, ""}} {
		if got := Cut(c.in, c.w); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.w, got, c.want)
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{"", "\x1b]52;c;aGk=\x07", "\u202e\u2066x", "\xc2\x9b", "a\u0300\u0300\u0300\u0300",
		"🇺🇸👨\u200d👩\u200d👧", "\t\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		check := func(got string) {
			if !utf8.ValidString(got) {
				t.Fatalf("%q is not UTF-8", got)
			}
			for _, r := range got {
				if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Bidi_Control, r) {
					t.Fatalf("%q holds %U", got, r)
				}
			}
		}
		check(Line(s))
		for _, l := range Lines(s) {
			check(l)
			for _, w := range Wrap(l, 7) {
				if Width(w) > 7 && utf8.RuneCountInString(w) > 7 {
					t.Fatalf("%q is wider than 7", w)
				}
			}
		}
	})
}

// Whatever is broken, nothing but the spaces at the breaks is lost, and no line is wider than asked.
func TestBreaksLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Line(rapid.StringOf(rapid.SampledFrom([]rune("ab  -日é\u0301👍"))).Draw(t, "text"))
		w, anywhere := rapid.IntRange(0, 12).Draw(t, "width"), rapid.Bool().Draw(t, "anywhere")
		at, lines := 0, 0
		for start, end := range Breaks(s, w, anywhere) {
			if lost := s[at:start]; lost != "" && (lost != " " || anywhere || lines == 0) {
				t.Fatalf("%q is lost before line %d", lost, lines)
			}
			if line := s[start:end]; Width(line) > max(w, 1) && Width(line) > 2 {
				t.Fatalf("line %d is %q", lines, line)
			}
			at, lines = end, lines+1
		}
		if rest := s[at:]; lines == 0 || rest != "" && rest != " " {
			t.Fatalf("%d lines, %q is lost at the end", lines, rest)
		}
	})
}

func TestCount(t *testing.T) {
	if got := Count(1, "line") + ", " + Count(2, "line") + ", " + Count(0, "line"); got != "1 line, 2 lines, 0 lines" {
		t.Error(got)
	}
}
