package gateway

import (
	"fmt"
	"testing"

	"orchestrator/thread"
)

// TestSpendingOfThreadsThatAreGone: of threads that were removed the total alone is kept.
func TestSpendingOfThreadsThatAreGone(t *testing.T) {
	s := spending{before: func() map[thread.ID]float64 { return map[thread.ID]float64{"old": 1} }}
	if own, total := s.spent("old"); own != 1 || total != 1 {
		t.Fatalf("%v of %v", own, total)
	}
	for i := range 1000 {
		id := thread.ID(fmt.Sprint(i))
		s.add(id, 0.5)
		s.forget(id)
	}
	s.forget("old")
	if own, total := s.spent("old"); own != 0 || total != 501 || len(s.by) != 0 {
		t.Errorf("%v of %v; %d threads", own, total, len(s.by))
	}
}
