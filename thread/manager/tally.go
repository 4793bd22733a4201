package manager

import (
	"sync"

	"orchestrator/thread"
	"orchestrator/thread/manager/runs"
	exec "orchestrator/thread/work"
)

// bound is what an attempt knows about the bounds of its execution.
type bound struct {
	calls, rereads int    // of earlier attempts
	reports        bool   // it calls nothing: what it tries is denied
	reached        bool   // it is stopped because all calls are used up
	waits          bool   // it is stopped in a moment
	stop           func() // stops it; it does not block

	staging sync.Once
	whole   thread.Token // of an answer that is longer than its words allow
}

// tally is how much an execution has called in all its attempts. It only grows.
type tally struct{ calls, rereads int }

// tally adds what this attempt has called.
func (b *bound) tally(c runs.Calls) tally {
	if b.reports {
		return tally{b.calls, b.rereads}
	}
	return tally{b.calls + c.Made, b.rereads + c.Rereads}
}

// news reports whether an execution does not have it yet.
func (t tally) news(x exec.Execution) bool { return t.calls > x.Calls || t.rereads > x.Rereads }

// apply writes it into an execution.
func (t tally) apply(x *exec.Execution) {
	x.Calls, x.Rereads = max(x.Calls, t.calls), max(x.Rereads, t.rereads)
}
