package manager

import (
	"cmp"
	"time"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// verdict is what becomes of an execution.
type verdict struct {
	state  exec.State
	reason string
	prompt thread.PromptID // of the next attempt, "" for that of the last one
	events []exec.Event
	// cause is why it was decided to fail, and failure what that is, the zero value if it did not fail.
	cause   exec.Cause
	failure exec.Failure
	again   exec.Again
	after   time.Time
	notice  bool
	// reports is set if the next attempt is to report because all calls are used up, gap is what a report says is missing.
	reports bool
	gap     string
}

// apply writes it into an execution.
func (v verdict) apply(x *exec.Execution, at time.Time) {
	x.State, x.Reason, x.Ended, x.Failure, x.After = v.state, v.reason, at, v.failure, time.Time{}
	switch v.again {
	case exec.AgainSame:
		x.Retries, x.After = x.Retries+1, v.after
	case exec.AgainOther:
		x.Redone++
	case exec.AgainFallback:
		x.FallBack(thread.NewID[exec.ID]())
	case exec.AgainNever:
	}
	if v.prompt != "" {
		x.Prompt = v.prompt
	}
	x.Reporting, x.Gap = x.Reporting || v.reports, cmp.Or(v.gap, x.Gap)
}
