package agents

import (
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// longest returns for how long a state was shown at most, until now.
func longest(all []e2e.Moment, state thread.State) (d time.Duration) {
	for i, s := range all {
		end := time.Now()
		if i+1 < len(all) {
			end = all[i+1].At
		}
		if s.State == state {
			d = max(d, end.Sub(s.At))
		}
	}
	return d
}
