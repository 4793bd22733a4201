package typing_test

import (
	"strings"
	"testing"

	"orchestrator/thread/typing"
)

func TestCompare(t *testing.T) {
	long := strings.Repeat("all the words of a prompt that is long, ", 40) + "and its end"
	for _, c := range []struct {
		name, shown, text string
		want              typing.Match
	}{
		{"the same", "fix the test", "fix the test", typing.Whole},
		{"wrapped", "fix the\n  te\n  st", "fix the test", typing.Whole},
		{"empty", "", "fix the test", typing.Begun},
		{"a part", "fix the", "fix the test", typing.Begun},
		{"behind a draft", "a draft fix the test", "fix the test", typing.Other},
		{"behind what was recalled", "tell mefix the test", "fix the test", typing.Other},
		{"before more", "fix the test?", "fix the test", typing.Other},
		{"before a draft", "fix the test a draft", "fix the test", typing.Other},
		{"behind a bracket", "[fix the test", "fix the test", typing.Other},
		{"twice", "fix the test fix the test", "fix the test", typing.Other},
		{"a part behind a draft", "draft fix the", "fix the test", typing.Other},
		{"another", "mix the rest", "fix the test", typing.Other},
		{"its end", "that is long, and its end", long, typing.Whole},
		{"its beginning", "all the words of a prompt", long, typing.Begun},
		{"its middle", "of a prompt that is", long, typing.Other},
		{"too little of it", "its end", long, typing.Other},
		{"a draft before its end", "a draft and its end", long, typing.Other},
		{"a picture at its end", "look at [Image #1]", "look at /tmp/a.png", typing.Altered},
		{"a picture at its beginning", "[Image #1] is what?", "/tmp/a.png is what?", typing.Altered},
		{"a picture in it", "look at [Image #1] and tell", "look at /tmp/a.png and tell", typing.Altered},
		{"a picture and a draft", "look at [Image #1] now", "look at /tmp/a.png", typing.Other},
		{"signs without width", "👍 ❤ ok", "👍 ❤\ufe0f ok\u200d", typing.Whole},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := typing.Compare(c.shown, c.text); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("fix", "fix the test")
	f.Add("[", "]")
	f.Fuzz(func(t *testing.T, shown, text string) {
		typing.Compare(shown, text)
		if typing.Compare(text, text) != typing.Whole {
			t.Errorf("%q is not itself", text)
		}
		if m := typing.Compare(shown+"x"+text, text); m != typing.Other && len(shown)+len(text) > 20 && len(text) > 12 {
			t.Errorf("%q before %q: %v", shown, text, m)
		}
	})
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
