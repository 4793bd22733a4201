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

// Used returns what a thread has used since an execution's attempt began: what the gateway and the transcript told of it,
// which is counted once, with what was used beside the conversation but for its price, which the thread has. If they told nothing, it is what the agent itself reported, at a
// cost that is not known.
func Used(before, after, beside, reported thread.Usage) thread.Usage {
	u := thread.Usage{
		Input: after.Input - before.Input, CacheRead: after.CacheRead - before.CacheRead,
		CacheWrite: after.CacheWrite - before.CacheWrite, CacheWriteHour: after.CacheWriteHour - before.CacheWriteHour,
		Output: after.Output - before.Output, CostUSD: max(0, after.CostUSD-before.CostUSD), Priced: after.Priced,
		Unknown: max(0, after.Unknown-before.Unknown),
	}.Add(beside)
	if u.Context() <= 0 && u.CostUSD == 0 {
		reported.CostUSD, reported.Priced, reported.Unknown = 0, false, u.Unknown
		if reported.Context() > 0 {
			reported.Unknown++
		}
		return reported
	}
	return u
}
