package match

import (
	"errors"
	"fmt"
	"orchestrator/thread/ground/lexical"
	"strings"
	"unicode"
)

// part is one word of a pattern.
type part struct {
	word        string
	forms       map[string]bool // the word and its inflections, if there is no "*"
	open, after bool            // "*" before, "*" after it
}

func (p part) matches(word string) bool {
	switch {
	case p.open && p.after:
		return strings.Contains(word, p.word)
	case p.open:
		return strings.HasSuffix(word, p.word)
	case p.after:
		return strings.HasPrefix(word, p.word)
	default:
		return p.forms[word]
	}
}

// partsOf reads the words of a pattern. Signs between words separate them; others, as in "c++", would be lost.
func partsOf(pattern string) ([]part, error) {
	var parts []part
	for field := range strings.FieldsSeq(pattern) {
		p := part{}
		field, p.open = strings.CutPrefix(field, "*")
		field, p.after = strings.CutSuffix(field, "*")
		if odd := strings.IndexFunc(field, sign); odd >= 0 || strings.Trim(field, "-_./") != field || field == "" {
			return nil, errors.New(`it is no word: use a regular expression, such as /\bc\+\+/`)
		}
		list := joinedWords(field)
		if p.open || p.after {
			if len(list) > 1 {
				return nil, fmt.Errorf(`"*" stands beside one word, not %q`, field)
			}
			p.word = list[0]
			if len([]rune(p.word)) < 2 {
				return nil, errors.New(`"*" needs two letters at least beside it`)
			}
			parts = append(parts, p)
			continue
		}
		for _, w := range list {
			parts = append(parts, part{word: w, forms: inflected(w)})
		}
	}
	return parts, nil
}

func sign(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("-_./", r)
}

// joinedWords splits a field of a pattern at signs, and not where only the case changes: "GitHub" is meant as one word.
func joinedWords(field string) []string {
	var list []string
	last := lexical.Word{To: -1}
	for _, w := range lexical.Split(field) {
		if w.Joined(last) && !lexical.Spaceless([]rune(w.Text)[0]) {
			list[len(list)-1] += w.Text
		} else {
			list = append(list, w.Text)
		}
		last = w
	}
	return list
}

// inflected returns a word and its regular inflections.
func inflected(w string) map[string]bool {
	forms := map[string]bool{w: true}
	add := func(stem string, endings ...string) {
		for _, e := range endings {
			forms[stem+e] = true
		}
	}
	if strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) || len(w) < 2 {
		if unicode.IsLetter([]rune(w)[0]) {
			add(w, "s")
		}
		return forms
	}
	last, stem := w[len(w)-1], w[:len(w)-1]
	switch {
	case last == 'y' && !vowel(stem[len(stem)-1]):
		add(stem, "ies", "ied")
	case strings.HasSuffix(w, "ch"), strings.HasSuffix(w, "sh"), strings.ContainsRune("sxz", rune(last)):
		add(w, "es")
	case last == 'o':
		add(w, "s", "es")
	default:
		add(w, "s")
	}
	if len(w) < 3 {
		return forms // "used" is no form of "us"
	}
	switch {
	case strings.HasSuffix(w, "ie"):
		add(w, "d")
		add(w[:len(w)-2], "ying")
	case strings.HasSuffix(w, "ee"):
		add(w, "ing")
		if len(w) > 4 {
			add(w, "d") // but "seed" is no form of "see"
		}
	case last == 'e':
		add(w, "d")
		add(stem, "ing")
	case last == 'y':
		add(w, "ing")
		if vowel(stem[len(stem)-1]) {
			add(w, "ed")
		}
	case doubles(w):
		add(w+string(last), "ed", "ing")
		if strings.IndexFunc(stem, vowelRune) != len(stem)-1 {
			add(w, "ed", "ing") // "visited"; but "noted" is no form of "not"
		}
	case last == 'c':
		add(w+"k", "ed", "ing")
	default:
		add(w, "ed", "ing")
	}
	return forms
}

// doubles reports whether a word may double its last letter: a consonant after one vowel.
func doubles(w string) bool {
	n := len(w)
	return !vowel(w[n-1]) && !strings.ContainsRune("wxyhc", rune(w[n-1])) && vowel(w[n-2]) && !vowel(w[n-3])
}

func vowel(c byte) bool { return strings.IndexByte("aeiou", c) >= 0 }

func vowelRune(r rune) bool { return strings.ContainsRune("aeiou", r) }
