package daemon

import (
	"slices"
	"testing"

	"orchestrator/thread/grant"
	"orchestrator/thread/manager"
	"orchestrator/thread/record"
)

// TestEveryRouteHasItsRow: an operation that the table of grants does not list does not exist, and the other way
// round; and whose thread a request is about is asked where the table makes a difference.
func TestEveryRouteHasItsRow(t *testing.T) {
	// Routes are listed, none is called.
	s := &Server{Config: Config{Manager: new(manager.Manager), Transfer: struct{ Transfer }{}, Record: record.New(record.Config{})}}
	var served, listed []string
	r := newRoutes(s)
	s.register(r)
	asked := map[string]bool{}
	for _, one := range r.ops {
		served = append(served, one.op)
		asked[one.op] = one.own
	}
	for _, row := range grant.Table() {
		if !row.Local {
			listed = append(listed, row.Op)
			if asked[row.Op] != (row.Own != row.Others) {
				t.Errorf("%s: whose thread a request is about is asked: %v", row.Op, asked[row.Op])
			}
		}
	}
	slices.Sort(served)
	slices.Sort(listed)
	if !slices.Equal(served, listed) {
		t.Errorf("served: %v\nlisted: %v", served, listed)
	}
}
