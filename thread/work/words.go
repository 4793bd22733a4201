package work

import (
	"slices"

	"orchestrator/thread/ground/lexical"
)

const (
	// wordsEach is how many words of a text an execution is found by, beside its name, its type and its paths.
	wordsEach = 80
	// wordSize is the longest word, in bytes.
	wordSize = 64
)

// FoundBy returns the words by which an execution is found, sorted: all of its name, its type and the paths of its outputs,
// and the first that say something of its scope, of what it was given and of its answer.
func FoundBy(x Execution, given string, paths []string) []string {
	var out []string
	for _, s := range append([]string{x.Name, x.AgentType()}, paths...) {
		out = append(out, split(s, false)...)
	}
	for _, s := range []string{x.Scope, given, x.Answer} {
		words := split(s, true)
		out = append(out, words[:min(len(words), wordsEach)]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// PathWords returns the words of paths, sorted.
func PathWords(paths []string) []string {
	var out []string
	for _, p := range paths {
		out = append(out, split(p, false)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Terms returns the words that a query asks for, as FoundBy has them. Those that say nothing do not count, unless all do.
func (q RecordQuery) Terms() []string {
	var out []string
	for _, telling := range []bool{true, false} {
		for _, w := range q.Words {
			out = append(out, split(w, telling)...)
		}
		if len(out) > 0 {
			break
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// split returns the different words of a text, in its order; only those that say something if telling.
func split(s string, telling bool) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range lexical.Split(s[:min(len(s), maxText)]) {
		t := w.Text[:min(len(w.Text), wordSize)]
		if !seen[t] && !(telling && lexical.Stop(t)) {
			seen[t] = true
			out = append(out, plain(t))
		}
	}
	return out
}
