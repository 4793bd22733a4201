package typing_test

import (
	"strings"
	"testing"

	"orchestrator/thread/typing"
)

func TestStands(t *testing.T) {
	long := strings.Repeat("all the words of a prompt that is long, ", 40) + "and its end"
	for _, c := range []struct {
		name, shown, text string
		want              bool
	}{
		{"the same", "fix the test", "fix the test", true},
		{"wrapped", "fix the\n  te\n  st", "fix the test", true},
		{"empty", "", "fix the test", false},
		{"a part", "fix the", "fix the test", false},
		{"behind a draft", "a draft fix the test", "fix the test", false},
		{"before more", "fix the test?", "fix the test", false},
		{"twice", "fix the test fix the test", "fix the test", false},
		{"another", "fix the rest", "fix the test", false},
		{"its end", "that is long, and its end", long, true},
		{"its beginning", "all the words of a prompt", long, true},
		{"its middle", "of a prompt that is", long, false},
		{"too little of it", "its end", long, false},
		{"a draft before its end", "a draft and its end", long, false},
		{"tabs, accents and signs without width", "a b e\u0301 ❤", "a\tb é ❤\ufe0f", false},
		{"signs without width", "👍 ❤ ok", "👍 ❤\ufe0f ok\u200d", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := typing.Stands(c.shown, c.text); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestWithin(t *testing.T) {
	long := strings.Repeat("word ", 100) + "and its very end"
	for _, c := range []struct {
		screen, text string
		want         int
	}{
		{"$ ", "make", 0},
		{"$ make", "make", 1},
		{"$ make\n$ make", "make", 2},
		{"$ ma\nke", "make", 1},
		{"…and its very\nend", long, 1},
		{"$ ", "", 0},
	} {
		if got := typing.Within(c.screen, c.text); got != c.want {
			t.Errorf("%q in %q: %d, want %d", c.text, c.screen, got, c.want)
		}
	}
}
