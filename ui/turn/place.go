package turn

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
)

// place is what a line belongs to: an entry, and the block of code in it, if any.
type place struct {
	entry int
	code  string
}

// places is what lines belong to: the ref of a line is an index, plus 1.
type places []place

// refer numbers the lines of an entry, whose refs are the numbers of its blocks of code.
func (p *places) refer(lines []styled.Line, entry int, code []string) {
	*p = append(*p, place{entry: entry})
	whole := len(*p)
	for _, c := range code {
		*p = append(*p, place{entry, c})
	}
	for i := range lines {
		lines[i].Ref += whole
	}
}

// at returns the place of a ref.
func (p places) at(ref int) place {
	if ref < 1 || ref > len(p) {
		return place{entry: -1}
	}
	return p[ref-1]
}

// wordOf names an entry that is copied.
func wordOf(e thread.Entry) string {
	switch e.Kind {
	case thread.EntryPrompt, thread.EntryAnswer, thread.EntryThinking:
		return string(e.Kind)
	default:
		return "output of " + plain.Line(nameOf(e))
	}
}

func nameOf(e thread.Entry) string {
	if e.Tool == "" {
		return "tool"
	}
	return e.Tool
}

// trimmed is a text as it is copied.
func trimmed(s string) string { return strings.TrimRight(s, "\n") }
