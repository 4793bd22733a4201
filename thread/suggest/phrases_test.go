package suggest

import (
	"slices"
	"strings"
	"testing"
)

func TestPhrases(t *testing.T) {
	for _, c := range []struct {
		phrase, text, want string // what is found of the text, "" for nothing
	}{
		{"too hacky|messy", "this is too messy now", "too messy"},
		{"too hacky|messy", "too nice", ""},
		{"too very? hacky", "too very hacky", "too very hacky"},
		{"too very? hacky", "too hacky", "too hacky"},
		{"the? end", "end of it", "end"},
		{"drop the *", "drop the regex, please", "drop the regex"},
		{"drop the *", "drop the, regex", ""},
		{"drop the * $", "drop the regex, please", "drop the regex"},
		{"drop the * $", "drop the regex now", ""},
		{"go .. to", "go over there again to it", "go over there again to"},
		{"go .. to", "go one two three four to", ""},
		{"go .. to", "go. to", ""},
		{"^ use *", "please use yacc", "use yacc"},
		{"^ use *", "we use yacc", ""},
		{"too !big|small", "too big", ""},
		{"too !big|small", "too odd", "too odd"},
		{"@thing out", "throw everything out", "everything out"},
		{"dont like", "I don’t like it", "don’t like"},
		{"bin it", "/usr/bin it", ""},
		{"css grid", "use css-grid", "css-grid"},
	} {
		l := make(lexicon)
		l.learn(named, c.phrase)
		got := ""
		if at := l.find(words(c.text))[named]; at.said {
			got = c.text[at.from:at.to]
		}
		if got != c.want {
			t.Errorf("%q in %q: found %q, want %q", c.phrase, c.text, got, c.want)
		}
	}
}

// TestWords holds that long prompts are heard at both ends, whatever their bytes are.
func TestWords(t *testing.T) {
	list := words("first " + strings.Repeat("ö\xff ", 2000) + "last")
	if len(list) == 0 || list[0].text != "first" || list[len(list)-1].text != "last" || len(list) > maxSearched {
		t.Errorf("%d words of a long prompt", len(list))
	}
	var opens []string
	for _, w := range words("no. use a.b, then\ngo (or not)! - ok") {
		if w.opens {
			opens = append(opens, w.text)
		}
	}
	if want := []string{"no", "use", "go", "ok"}; !slices.Equal(opens, want) {
		t.Errorf("sentences begin with %q, want %q", opens, want)
	}
}

// TestVocabulary holds that every class that a phrase names exists, and that no word is there that no prompt can have.
func TestVocabulary(t *testing.T) {
	for first, list := range vocabulary() {
		for _, p := range list {
			for _, e := range append([]element{{words: map[string]bool{first: true}}}, p.elements...) {
				if e.words != nil && len(e.words) == 0 {
					t.Errorf("a phrase that begins with %q names a class that does not exist", first)
				}
				for w := range e.words {
					if heard := words(w); len(heard) != 1 || heard[0].text != w {
						t.Errorf("%q in a phrase that begins with %q cannot be heard", w, first)
					}
				}
			}
		}
	}
}
