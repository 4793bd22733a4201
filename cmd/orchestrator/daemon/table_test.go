package daemon

import (
	"slices"
	"testing"

	"orchestrator/thread/grant"
)

// TestEveryRouteHasItsRow: an operation that the table of grants does not list does not exist, and the other way
// round.
func TestEveryRouteHasItsRow(t *testing.T) {
	s := &Server{Config: Config{Porter: struct{ Porter }{}}} // routes are listed, none is called
	var served, listed []string
	for op := range s.calls() {
		served = append(served, op)
	}
	for op := range s.streams() {
		served = append(served, op)
	}
	for _, r := range grant.Table() {
		if !r.Local {
			listed = append(listed, r.Op)
		}
	}
	slices.Sort(served)
	slices.Sort(listed)
	if !slices.Equal(served, listed) {
		t.Errorf("served: %v\nlisted: %v", served, listed)
	}
}
