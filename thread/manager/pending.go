package manager

import (
	"slices"
	"strings"

	"orchestrator/thread"
)

// pending is what a process without a terminal waits for a person with, in the order of asking. Its time stands still
// meanwhile.
type pending struct {
	time *allowance // until its deadline
	open []thread.Question
}

// take takes over what is asked, answered or withdrawn.
func (p *pending) take(e thread.RunEvent) {
	switch {
	case e.Question == nil:
		return
	case e.Kind == thread.RunAsks:
		p.open = append(p.open, *e.Question)
	case e.Kind == thread.RunAnswered:
		p.open = slices.DeleteFunc(p.open, func(q thread.Question) bool { return q.ID == e.Question.ID })
	default:
		return
	}
	p.time.hold(len(p.open) > 0)
}

// given are prompts that a process was given for its running turn, and has not taken as far as it told.
type given []thread.Prompt

// take removes the first one with a text.
func (g *given) take(text string) {
	if i := slices.IndexFunc(*g, func(p thread.Prompt) bool { return strings.TrimSpace(p.Text) == strings.TrimSpace(text) }); i >= 0 {
		*g = slices.Delete(*g, i, i+1)
	}
}

// first returns the question that is to be answered first; nil if there is none.
func (p *pending) first() *thread.Question {
	if len(p.open) == 0 {
		return nil
	}
	q := p.open[0]
	return &q
}
