package runs_test

import (
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/manager/runs"
)

// TestOddUsage: numbers that no answer can have used are added to nothing.
func TestOddUsage(t *testing.T) {
	var r runs.Record
	for _, u := range []thread.Usage{{Input: -5, Output: -5}, {Input: 1e11, Output: 3}, {Input: 7, Output: 2}, {CostUSD: -1, Output: 4}} {
		r.Add(thread.RunEvent{Kind: thread.RunUsage, Usage: &u})
	}
	if got := r.Usage(); got != (thread.Usage{Input: 7, Output: 2}) {
		t.Errorf("%+v", got)
	}
}
