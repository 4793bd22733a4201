package checkpoint

import (
	"slices"
	"time"

	"orchestrator/thread"
)

// FinishedRuns selects the threads to archive because their agents ran without a terminal and nothing has happened to
// them for a time, oldest first; a limit of zero selects none. Never one that is pinned, interrupted or running, nor one
// that a thread in use was forked from, unless that goes, too.
func FinishedRuns(limit time.Duration, since func(time.Time) time.Duration, all []Candidate) []thread.Thread {
	if limit <= 0 {
		return nil
	}
	stays, old := map[thread.ID]bool{}, []thread.Thread{} // stays: a thread in use was forked from it
	for _, c := range all {
		if t := c.Thread; t.UsedNow() == thread.InUse {
			if t.Once.On && !t.Pinned && !t.Interrupted && !c.Running && since(t.Updated) >= limit {
				old = append(old, t)
			} else {
				stays[t.Parent] = true
			}
		}
	}
	for again := true; again; { // one that stays keeps those that it was forked from
		again = false
		old = slices.DeleteFunc(old, func(t thread.Thread) bool {
			if stays[t.ID] {
				again, stays[t.Parent] = true, true
			}
			return stays[t.ID]
		})
	}
	slices.SortStableFunc(old, func(a, b thread.Thread) int { return a.Updated.Compare(b.Updated) })
	return old
}
