package context

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/plain"
)

// row is a result with its texts, cleaned, or what the agent sends before a word is said: all of it, or a part.
type row struct {
	result             thread.ContextResult
	base, open         bool             // all of the base, and whether its parts are shown
	part               *thread.BasePart // nil if it is not one
	tool, file, status string
	brief              string // in place of a status for which there is no room, if there is one
	tokens             int64
}

func rowOf(r thread.ContextResult) row {
	out := row{result: r, tool: plain.Line(start(r.Tool)), file: plain.Line(end(r.File)), tokens: r.Tokens}
	if out.tool == "" {
		out.tool = "(no name)"
	}
	if r.Input {
		out.tool += " input"
	}
	out.status = plain.Line(start(r.Says()))
	return out
}

// same reports whether two rows are of the same thing.
func (r *row) same(o *row) bool {
	switch {
	case r.base || o.base:
		return r.base && o.base
	case r.part != nil || o.part != nil:
		return r.part != nil && o.part != nil && r.part.Kind == o.part.Kind && r.part.Name == o.part.Name
	default:
		return r.result.ID == o.result.ID && r.result.Input == o.result.Input
	}
}

// ofBase reports whether a row is of the base.
func (r *row) ofBase() bool { return r.base || r.part != nil }

// holds reports whether a row has all of some words in lower case.
func (r row) holds(words []string) bool {
	text := strings.ToLower(r.tool + " " + r.file + " " + r.status)
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
