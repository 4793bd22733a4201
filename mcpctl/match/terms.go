package match

import (
	"path"
	"strings"

	"orchestrator/thread/ground/lexical"
	lazily "orchestrator/thread/pattern"
)

// term is a word as it is counted, and as it was written.
type term struct{ stem, word string }

const (
	maxTerm     = 40 // bytes; longer words are data
	maxCompound = 3  // words of an identifier that count together, too
)

// terms are the words of a text that say something, in their stems. Runes of scripts without spaces count in pairs. A
// compound that only its case divides counts as a whole, too: "GitHub" is git, hub and github.
func terms(text string) []term {
	var (
		list  []term
		whole string // what is joined so far
		parts int    // of it
		last  lexical.Word
	)
	add := func(w string) {
		if len(w) > 1 && len(w) <= maxTerm && !lexical.Stop(w) && !vocabulary().stop[w] {
			list = append(list, term{stem: lexical.Stem(w), word: w})
		}
	}
	flush := func() {
		if parts > 1 && parts <= maxCompound {
			add(whole)
		}
		whole, parts = "", 0
	}
	for _, w := range lexical.Split(text) {
		if !w.Joined(last) {
			flush()
		}
		if alone(w.Text) {
			if w.Joined(last) && alone(last.Text) {
				list = append(list, term{stem: last.Text + w.Text, word: last.Text + w.Text})
			}
			flush()
		} else {
			add(w.Text)
			whole += w.Text
			parts++
		}
		last = w
	}
	flush()
	return list
}

// alone reports whether a word is one rune of a script without spaces.
func alone(w string) bool {
	r := []rune(w)
	return len(r) == 1 && lexical.Spaceless(r[0])
}

// pairs are the neighbours among terms: "word cloud" says more than its words.
func pairs(list []term) []term {
	var out []term
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		out = append(out, term{stem: a.stem + " " + b.stem, word: a.word + " " + b.word})
	}
	return out
}

// The weights of a query's terms.
const (
	fromPath  = 0.25 // names of folders and files are chosen freely
	weakTerm  = 0.2  // see weakWords
	saturates = 1.0  // how soon repeating a word adds nothing
	maxPaths  = 20   // paths and addresses that are looked at
)

var (
	absolutePath = lazily.Lazy(`(?:^|[\s"'(=` + "`" + `])(~?(?:/[\p{L}\p{N}_.@+~-]+)+/?)`)
	webAddress   = lazily.Lazy(`\bhttps?://[^\s"'<>)]+`)
)

// query reads a task: its terms with their weights, and how they were written.
func query(text string) (weights map[string]float64, written map[string]string) {
	weights, written = map[string]float64{}, map[string]string{}
	add := func(list []term, weight float64) {
		for _, t := range list {
			weights[t.stem] += weight
			if written[t.stem] == "" {
				written[t.stem] = t.word
			}
		}
	}
	list := terms(text)
	add(list, 1)
	add(pairs(list), 1)
	var implied []term
	for _, m := range absolutePath().FindAllStringSubmatch(text, maxPaths) {
		add(terms(m[1]), fromPath-1)
		implied = append(implied, terms(kindOf(m[1]))...)
	}
	for range webAddress().FindAllStringIndex(text, maxPaths) {
		implied = append(implied, terms("url web page fetch")...)
	}
	for t, w := range weights {
		weights[t] = w * (1 + saturates) / (w + saturates)
	}
	for _, t := range implied {
		weights[t.stem] = max(weights[t.stem], 1)
		if written[t.stem] == "" {
			written[t.stem] = t.word
		}
	}
	for t := range weights {
		if vocabulary().weak[t] {
			weights[t] *= weakTerm
		}
	}
	return weights, written
}

// kindOf returns in words what a path outside the project is needed for.
func kindOf(file string) string {
	switch strings.ToLower(path.Ext(file)) {
	case ".xlsx", ".xls", ".ods":
		return "file excel spreadsheet"
	case ".csv", ".tsv":
		return "file csv spreadsheet"
	case ".pptx", ".ppt", ".odp":
		return "file powerpoint presentation"
	case ".docx", ".doc", ".odt":
		return "file word document"
	case ".pdf":
		return "file pdf document"
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		return "file image"
	case ".svg":
		return "file svg image"
	case ".wav", ".mp3", ".flac", ".ogg":
		return "file audio music"
	case ".mp4", ".mov", ".mkv", ".webm":
		return "file video"
	case ".db", ".sqlite":
		return "file database sqlite"
	default:
		return "file read write directory"
	}
}

func isPair(stem string) bool { return strings.Contains(stem, " ") }
