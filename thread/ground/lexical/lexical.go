// Package lexical splits texts into words, knows which of them say nothing, and reduces English words to their stems.
package lexical

import (
	_ "embed" // the stop words
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// Word is a word of a text, or of an identifier in it, in lower case.
type Word struct {
	Text     string
	From, To int // in bytes
}

// Joined reports whether a word is written without anything between it and the one before.
func (w Word) Joined(before Word) bool { return w.From == before.To }

// Split splits a text into words: at what is neither letter nor digit, and inside identifiers where the case changes
// ("loadPDFFile" has three words). Digits stay with the letters beside them ("s3", "e2e"). Scripts that put no spaces
// between words give a word for each rune.
func Split(text string) []Word {
	var list []Word
	from, last := -1, rune(0)
	flush := func(to int) {
		if from >= 0 {
			list = append(list, Word{Text: strings.ToLower(text[from:to]), From: from, To: to})
		}
		from = -1
	}
	for i, r := range text {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !(unicode.IsMark(r) && from >= 0):
			flush(i)
		case Spaceless(r):
			flush(i)
			from = i
			flush(i + utf8.RuneLen(r))
		case from >= 0 && unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsUpper(last) && lowerAfter(text, i, r)):
			flush(i)
			from = i
		case from < 0:
			from = i
		}
		last = r
	}
	flush(len(text))
	return list
}

// lowerAfter reports whether the rune at i is followed by two small letters: then it begins a word after an acronym. One
// does not suffice: the plural of an acronym is one word ("PRs", "URLs").
func lowerAfter(text string, i int, r rune) bool {
	rest := text[i+utf8.RuneLen(r):]
	next, n := utf8.DecodeRuneInString(rest)
	if !unicode.IsLower(next) {
		return false
	}
	next, _ = utf8.DecodeRuneInString(rest[n:])
	return unicode.IsLower(next)
}

// Spaceless reports whether a rune is of a script that puts no spaces between words.
func Spaceless(r rune) bool {
	return r > unicode.MaxLatin1 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}

// Stem returns the stem of an English word. A word with other letters or digits is its own.
func Stem(w string) string {
	if strings.ContainsFunc(w, func(r rune) bool { return r > unicode.MaxASCII || unicode.IsDigit(r) }) {
		return w
	}
	return english.Stem(w, true)
}

//go:embed stop.txt
var stopList string

var stopWords = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(stopList) {
		for w := range strings.FieldsSeq(line) {
			if line[0] != '#' {
				all[w] = true
			}
		}
	}
	return all
})

// Stop reports whether a word in lower case says nothing of what a text is about.
func Stop(w string) bool { return stopWords()[w] }
