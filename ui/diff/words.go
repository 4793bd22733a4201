package diff

import (
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// maxWords limits how many words of a line are compared.
const maxWords = 400

// cut is a piece of a line; changed is set if the other line does not have it.
type cut struct {
	text    string
	changed bool
}

// split splits a line into words, spaces and single symbols.
func split(s string) []string {
	var out []string
	start := 0
	class := func(r rune) int {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
			return 1
		case unicode.IsSpace(r):
			return 2
		default:
			return 3
		}
	}
	last := 0
	for i, r := range s {
		c := class(r)
		if i > 0 && (c != last || c == 3) {
			out = append(out, s[start:i])
			start = i
		}
		last = c
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

// words compares two lines word by word. It highlights nothing if they have too little in common for that to help.
func words(before, after string) (del, add []cut) {
	a, b := split(before), split(after)
	whole := func(s string) []cut { return []cut{{text: s}} }
	if len(a) > maxWords || len(b) > maxWords {
		return whole(before), whole(after)
	}
	// Map each distinct word to a rune, so that edits are by word.
	code := map[string]rune{}
	encode := func(words []string) string {
		runes := make([]rune, len(words))
		for i, w := range words {
			r, known := code[w]
			if !known {
				r = rune(0x10000 + len(code)) // beyond the surrogates
				code[w] = r
			}
			runes[i] = r
		}
		return string(runes)
	}
	ea, eb := encode(a), encode(b)
	gone, came := make([]bool, len(a)), make([]bool, len(b))
	at, same := 0, 0
	pos := 0 // runes of eb before the edit
	for _, e := range udiff.Strings(ea, eb) {
		start, end := utf8.RuneCountInString(ea[:e.Start]), utf8.RuneCountInString(ea[:e.End])
		for k := at; k < start; k++ {
			same += len(a[k])
		}
		pos += start - at
		for k := start; k < end; k++ {
			gone[k] = true
		}
		n := utf8.RuneCountInString(e.New)
		for k := pos; k < pos+n && k < len(came); k++ {
			came[k] = true
		}
		pos += n
		at = end
	}
	for k := at; k < len(a); k++ {
		same += len(a[k])
	}
	if same*3 < max(len(before), len(after)) {
		return whole(before), whole(after)
	}
	return join(a, gone), join(b, came)
}

func join(words []string, changed []bool) []cut {
	var out []cut
	for i, w := range words {
		if k := len(out); k > 0 && out[k-1].changed == changed[i] {
			out[k-1].text += w
			continue
		}
		out = append(out, cut{w, changed[i]})
	}
	return out
}
