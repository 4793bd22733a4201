package suggest

import (
	_ "embed"
	"iter"
	"strings"
	"sync"
)

// phraseList and wordList are lists in sections: [name], then what belongs to it. Lines that begin with # are comments.
var (
	//go:embed phrases.txt
	phraseList string
	//go:embed words.txt
	wordList string
)

// sections returns the lines of a list, each with the name of its section.
func sections(list string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		section := ""
		for line := range strings.Lines(list) {
			line = strings.TrimSpace(line)
			switch {
			case line == "", line[0] == '#':
			case line[0] == '[':
				section = strings.Trim(line, "[]")
			case !yield(section, line):
				return
			}
		}
	}
}

// classes are the sets of words.
var classes = sync.OnceValue(func() map[string]map[string]bool {
	all := make(map[string]map[string]bool)
	for name, line := range sections(wordList) {
		if all[name] == nil {
			all[name] = make(map[string]bool)
		}
		for _, w := range strings.Fields(line) {
			all[name][w] = true
		}
	}
	return all
})

// set returns a set of words by its name.
func set(name string) func() map[string]bool {
	return func() map[string]bool { return classes()[name] }
}
