//go:build !failpoint

package failpoint

import "testing"

// TestHitIsFree sets a failpoint and passes it: a normal build must live.
func TestHitIsFree(t *testing.T) {
	t.Setenv("ORCHESTRATOR_FAILPOINT", "x.y")
	Hit("x.y")
	if Enabled {
		t.Error("a normal build says that it has failpoints")
	}
}
