package ledger

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// What is remembered of calls whose sub-agent was not seen yet.
const (
	maxHanded      = 256
	maxHandedBytes = 4 << 20
)

// handed is what was handed to sub-agents that were not seen yet, oldest first.
type handed struct {
	list  []delegated
	bytes int
}

// delegated is what a call handed over, and the row of who called.
type delegated struct {
	thread.Delegation
	by work.ID
}

// add remembers what a call hands over.
func (h *handed) add(d thread.Delegation, by work.ID) {
	h.list, h.bytes = append(h.list, delegated{d, by}), h.bytes+len(d.Prompt)
	for len(h.list) > maxHanded || h.bytes > maxHandedBytes {
		h.drop(0)
	}
}

func (h *handed) drop(i int) {
	h.bytes -= len(h.list[i].Prompt)
	h.list = append(h.list[:i:i], h.list[i+1:]...)
}

// take returns what was handed to a sub-agent: that with its name, or else the longest that its first prompt contains, and
// of equal ones the oldest; nothing of another type than its own. One without a prompt, as a hook reports it, gets what is
// the only one of its type.
func (h *handed) take(a thread.SubAgent, prompt string) (delegated, bool) {
	best, fit := -1, 0
	for i, d := range h.list {
		score := d.fits(a, prompt)
		if score > fit {
			best, fit = i, score
		} else if score > 0 && prompt == "" && a.Name == "" {
			return delegated{}, false // which one is not known
		}
	}
	if best < 0 {
		return delegated{}, false
	}
	d := h.list[best]
	h.drop(best)
	return d, true
}

// fits tells how well it fits a sub-agent; 0 is not at all.
func (d delegated) fits(a thread.SubAgent, prompt string) int {
	text := strings.TrimSpace(d.Prompt)
	switch {
	case a.Name != "" && d.Name != "":
		if a.Name == d.Name {
			return 1
		}
		return 0
	case a.Type != "" && d.Type != "" && !strings.EqualFold(a.Type, d.Type):
		return 0
	case prompt != "" && strings.Contains(prompt, text):
		return 1 + len(text)
	case prompt == "" && a.Type != "" && d.Type != "":
		return 1
	default:
		return 0
	}
}
