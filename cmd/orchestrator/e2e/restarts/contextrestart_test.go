package restarts

import (
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestContextAfterARestart: what filled a thread's context is shown after the server has restarted, as what it is.
func TestContextAfterARestart(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("full")
	r.Turn(name, "read README.md")
	before := e2e.Get[thread.ContextReport](r, "context", "show", name)
	r.Ok("stop")
	after := e2e.Get[thread.ContextReport](r, "context", "show", name)
	if len(after.Parts) == 0 || len(after.Parts) != len(before.Parts) || len(after.Results) != len(before.Results) || after.Tokens != before.Tokens {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	if out := r.Ok("context", "show", name); !strings.Contains(out, "from before the restart, ") || !strings.Contains(out, "messages") {
		t.Errorf("it is shown as\n%s", out)
	}
}
