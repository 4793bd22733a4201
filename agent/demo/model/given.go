package model

import (
	"encoding/json"
	"strings"

	"orchestrator/agent/scripted"
	"orchestrator/thread/pattern"
)

var (
	givenMark = pattern.Lazy(`(?m)^[ \t]*#(json|repaired):\s*`)
	// mending matches a prompt that asks for what was handed over once more.
	mending = pattern.Lazy(`^What you handed over cannot be used\b|\bJSON\b`)
)

// given are the answers that a prompt has in it, byte for byte: JSON values after marks.
type given struct {
	answer   string // after #json:, "" for none
	repaired string // after #repaired:, for when the answer is to be mended
	rest     string // the prompt without them
}

// givens reads the answers that a prompt gives in its own words: what it quotes gives none.
func givens(prompt string) given {
	var g given
	var rest strings.Builder
	at, code := 0, fenced().FindAllStringIndex(prompt, -1)
	for _, m := range givenMark().FindAllStringSubmatchIndex(prompt, -1) {
		if m[0] < at || within(code, m[0]) {
			continue
		}
		values := json.NewDecoder(strings.NewReader(prompt[m[1]:]))
		var value json.RawMessage
		if values.Decode(&value) != nil {
			continue
		}
		if prompt[m[2]:m[3]] == "json" {
			g.answer = string(value)
		} else {
			g.repaired = string(value)
		}
		rest.WriteString(prompt[at:m[0]])
		at = m[1] + int(values.InputOffset())
	}
	rest.WriteString(prompt[at:])
	g.rest = rest.String()
	return g
}

// within reports whether a place lies in one of some ranges.
func within(ranges [][]int, at int) bool {
	for _, r := range ranges {
		if r[0] < at && at < r[1] {
			return true
		}
	}
	return false
}

// mended returns the answer that an earlier prompt gave for a prompt that asks to mend what was answered to it.
func mended(t scripted.Turn) (string, bool) {
	if !mending().MatchString(t.Prompt) {
		return "", false
	}
	all := t.Prompts()
	for i := len(all) - 2; i >= 0; i-- {
		switch g := givens(task(all[i])); {
		case g.repaired != "":
			return g.repaired, true
		case g.answer != "":
			return g.answer, true
		}
	}
	return "", false
}

// literal returns the steps that a prompt with a given answer has: those of a line with #do: only, for its other words are
// for whoever reads it as a task.
func literal(prompt string, offered []scripted.Tool) []step {
	_, script, ok := strings.Cut(prompt, "#do:")
	if !ok {
		return nil
	}
	script, _, _ = strings.Cut(script, "\n")
	return plan("#do:"+script, offered)
}

// unquoted returns a prompt without what it quotes: code, quotations and lists.
func unquoted(prompt string) string {
	return listed().ReplaceAllString(fenced().ReplaceAllString(givens(task(prompt)).rest, " "), " ")
}
