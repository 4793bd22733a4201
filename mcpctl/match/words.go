package match

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orchestrator/thread/plaintext"
)

// maxText is how much of a text is read, in bytes.
const maxText = 64 << 10

// clip returns the beginning of a text that is too long, cut between runes.
func clip(text string) string { return plaintext.Cut(text, maxText) }

// word is a word of a text, or of an identifier in it, in lower case.
type word struct {
	text     string
	from, to int // in bytes
}

// joined reports whether a word is written without anything between it and the one before.
func (w word) joined(before word) bool { return w.from == before.to }

// words splits a text into words: at what is neither letter nor digit, and inside identifiers where the case changes
// ("loadPDFFile" has three words). Digits stay with the letters beside them ("s3", "e2e"). Scripts that put no spaces
// between words give a word for each rune.
func words(text string) []word {
	var list []word
	from, last := -1, rune(0)
	flush := func(to int) {
		if from >= 0 {
			list = append(list, word{text: strings.ToLower(text[from:to]), from: from, to: to})
		}
		from = -1
	}
	for i, r := range text {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !(unicode.IsMark(r) && from >= 0):
			flush(i)
		case spaceless(r):
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

func spaceless(r rune) bool {
	return r > unicode.MaxLatin1 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}
