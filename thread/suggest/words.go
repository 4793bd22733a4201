package suggest

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orchestrator/thread/plaintext"
)

// word is a word of a prompt as phrases see it: in lower case, without apostrophes.
type word struct {
	text     string
	from, to int  // bytes of the prompt
	first    bool // of its clause
	last     bool // of its clause
	opens    bool // a sentence
	asked    bool // a question mark follows
	name     bool // part of the name of a file or a package
}

// maxSearched is how many bytes of a prompt are searched for phrases, half of them at each end: people say what they
// want before or after what they paste.
const maxSearched = 600

// words returns the words of a prompt. Punctuation and line breaks divide it into clauses and sentences; a dot, a slash
// or a hyphen within a name does not.
func words(prompt string) []word {
	if len(prompt) <= maxSearched {
		return appendWords(nil, prompt, 0)
	}
	end, begin := len(plaintext.Cut(prompt, maxSearched/2)), len(prompt)-maxSearched/2
	for begin < len(prompt) && !utf8.RuneStart(prompt[begin]) {
		begin++
	}
	return appendWords(appendWords(make([]word, 0, maxSearched/4), prompt[:end], 0), prompt[begin:], begin)
}

func appendWords(list []word, text string, offset int) []word {
	opens, first, name, start := true, true, false, -1
	end := func(i int) {
		if start >= 0 {
			w := text[start:i]
			if strings.ContainsAny(w, "'’") {
				w = strings.ReplaceAll(strings.ReplaceAll(w, "'", ""), "’", "")
			}
			list = append(list, word{
				text: strings.ToLower(w), from: offset + start, to: offset + i, first: first, opens: opens, name: name,
			})
			opens, first, name, start = false, false, false, -1
		}
	}
	pause := func(sentence bool) {
		first, opens = true, opens || sentence
		if len(list) > 0 {
			list[len(list)-1].last = true
		}
	}
	for i, size := 0, 0; i < len(text); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(text[i:])
		if unicode.IsLetter(r) || unicode.IsDigit(r) || start >= 0 && (r == '\'' || r == '’') {
			if start < 0 {
				start = i
			}
			continue
		}
		if inName(r) && i+size < len(text) && !unicode.IsSpace(rune(text[i+size])) {
			name = true
		}
		end(i)
		next, _ := utf8.DecodeRuneInString(text[i+size:])
		apart := next == utf8.RuneError || unicode.IsSpace(next)
		name = inName(r) && !apart
		switch {
		case r == '?':
			pause(apart)
			if len(list) > 0 {
				list[len(list)-1].asked = true
			}
		case r == '\n', strings.ContainsRune(".!…", r) && apart, strings.ContainsRune("。！？", r):
			pause(true)
		case strings.ContainsRune(",:;-–", r) && apart, strings.ContainsRune("—()，；：", r):
			pause(false)
		}
	}
	end(len(text))
	pause(true)
	return list
}

// inName reports whether a rune joins both sides into one name.
func inName(r rune) bool { return strings.ContainsRune(`/._\=`, r) }

func short(s string) string { return plaintext.Short(strings.Join(strings.Fields(s), " "), 80) }
