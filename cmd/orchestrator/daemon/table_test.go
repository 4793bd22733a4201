package daemon

import (
	"slices"
	"testing"

	"orchestrator/thread/grant"
	"orchestrator/thread/manager"
)

// TestEveryRouteHasItsRow: an operation that the table of grants does not list does not exist, and the other way
// round.
func TestEveryRouteHasItsRow(t *testing.T) {
	// Routes are listed, none is called.
	s := &Server{Config: Config{Manager: new(manager.Manager), Transfer: struct{ Transfer }{}}}
	var served, listed []string
	r := newRoutes(s.guarded)
	s.register(r)
	served = append(served, r.ops...)
	for _, row := range grant.Table() {
		if !row.Local {
			listed = append(listed, row.Op)
		}
	}
	slices.Sort(served)
	slices.Sort(listed)
	if !slices.Equal(served, listed) {
		t.Errorf("served: %v\nlisted: %v", served, listed)
	}
}
