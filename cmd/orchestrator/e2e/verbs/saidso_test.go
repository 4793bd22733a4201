package verbs

import (
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
)

// TestVerbsSayWhatIsSo: a verb that has nothing to do does not say that it did something.
func TestVerbsSayWhatIsSo(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("hello")
	r.Says(exitcode.Refused, []string{"restore " + name + ": it is not archived", "checkpoint restore"}, "restore", name)
	if got := r.Ok("resume", name); !strings.Contains(got, name+" is already running, at turn") || strings.Contains(got, "resumed") {
		t.Errorf("resume of a thread that runs: %q", got)
	}
	r.Ok("stop", name)
	if got := r.Ok("resume", name); !strings.Contains(got, name+" resumed at turn") {
		t.Errorf("resume: %q", got)
	}
	r.Ok("archive", name)
	if got := r.Ok("restore", name); !strings.Contains(got, "restored") {
		t.Errorf("restore: %q", got)
	}
}
