package work

import (
	"testing"

	"orchestrator/thread"
)

// TestStatesOfStatuses: what lists show of a run says the same as its state.
func TestStatesOfStatuses(t *testing.T) {
	for _, s := range States() {
		r := thread.RunStatus{State: string(s)}
		if r.Working() != s.Holds() || r.Over() != s.Final() {
			t.Errorf("%s: working %v, over %v", s, r.Working(), r.Over())
		}
	}
	if none := (*thread.RunStatus)(nil); none.Working() || none.Over() || none.Waiting() {
		t.Error("no run works, waits or is over")
	}
}
