package manager

import (
	"slices"

	"orchestrator/thread"
)

// pending is what a process without a terminal waits for a person with, in the order of asking. Its time stands still
// meanwhile.
type pending struct {
	time *allowance // until its deadline
	open []thread.Question
}

// take takes over what is asked, answered or withdrawn. It reports whether an event is one of these.
func (p *pending) take(e thread.RunEvent) (changed bool) {
	switch {
	case e.Question == nil:
		return false
	case e.Kind == thread.RunAsks:
		p.open = append(p.open, *e.Question)
	case e.Kind == thread.RunAnswered:
		p.open = slices.DeleteFunc(p.open, func(q thread.Question) bool { return q.ID == e.Question.ID })
	default:
		return false
	}
	p.time.hold(len(p.open) > 0)
	return true
}

// first returns the question that is to be answered first; nil if there is none.
func (p *pending) first() *thread.Question {
	if len(p.open) == 0 {
		return nil
	}
	q := p.open[0]
	return &q
}
