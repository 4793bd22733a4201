package runs

import (
	"cmp"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Ended is how a process without a terminal came to its end.
type Ended struct {
	// Said is the RunEnd, nil if there was none.
	Said *thread.RunEvent
	Exit thread.Exit
	// Asked is set if we ended it.
	Asked bool
	// Refused is what it would have asked a person.
	Refused Refused
}

// Outcome returns the state that an execution has after its process ended by itself, and why.
func (e Ended) Outcome() (work.State, string) {
	said := e.Said != nil && !e.Said.Gone // before its process ended, whatever that ended by
	switch {
	case said && e.Said.Outcome == thread.RunCompleted:
		return work.Completed, e.Refused.sentence()
	case e.Exit.Limit:
		return work.Failed, e.Exit.Reason
	case e.Said != nil && e.Said.Outcome == thread.RunCompleted:
		return work.Completed, e.Refused.sentence()
	case e.Exit.Killed() && !e.Asked && !said:
		return work.Lost, fmt.Sprintf("its process was killed by signal %d", e.Exit.Code-128)
	case e.Said == nil:
		return work.Failed, fmt.Sprintf("its process ended with code %d and did not say how the work ended; see what it printed", e.Exit.Code)
	case e.Said.Outcome == thread.RunCancelled:
		return work.Cancelled, cmp.Or(e.Said.Reason, "it was interrupted")
	default:
		return work.Failed, cmp.Or(e.Said.Reason, fmt.Sprintf("its process ended with code %d", e.Exit.Code))
	}
}
