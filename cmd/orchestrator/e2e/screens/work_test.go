package screens

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/budget"
	"orchestrator/thread/work"
	"orchestrator/ui/typing"
)

// TestWorkOnTheScreen: a work session of which each run waits for the person begins on the screen, which follows what runs
// without being asked again, shows what it was given, said and made, and what the work session has spent of its budget; a
// killed server takes nothing of it.
func TestWorkOnTheScreen(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	e2e.Put(t, filepath.Join(r.Home, ".config", "orchestrator", "config.toml"),
		"[models]\n\"demo-1\" = { window = 32000, input = 3000, output = 15000 }\n")
	s := r.Open(120, 36)
	s.See("Try the demo")
	s.Press("\x1b")
	s.See("n new")
	s.Press("W")
	s.See("No work yet", "orchestrator session init")
	r.Ok("session", "init", "Implement vector search", "--as", "orch-1", "--policy", "manual", "--budget", "$50")
	s.See("orch-1", "planning", "$50.00")
	run := r.Ok("run", "--once", "-d", "-a", "demo", "--session", "orch-1", "--task", "Write the index", "--type", "implementor", "write index.ts: hnsw")
	s.See("Write the index", run, "implementor", "proceed?")
	if x := e2e.Get[work.Execution](r, "exec", "show", run); x.State != work.Queued || x.Attempt != 0 || !strings.Contains(x.Reason, "proceed?") {
		t.Fatalf("%+v", x)
	}
	s.Press("j")
	s.Press("j")
	s.See("$50.00 of $50.00 left of orch-1", "a proceed")
	s.Press("a")
	s.See("proceed with "+run+"?", "an answer of about", "[ Start it ]")
	time.Sleep(2 * typing.Glance) // a key that comes as the question appears is ignored
	s.Press("\x13")               // ctrl+s
	s.See("completed", "complete", "1 done")
	s.Press("E")
	s.See("said", "given", "write index.ts: hnsw", "implementor", "orch-1, Write the index")
	s.Press("\x1b")
	r.Ok("exec", "init", "Decide on an algorithm", "--type", "architect", "--session", "orch-1", "--as", "decided")
	r.Ok("exec", "complete", "decided", "--message", "HNSW")
	s.See("decided", "architect", "by hand")
	var spent budget.Account
	for _, a := range e2e.Get[budget.Report](r, "budget").Accounts {
		if a.Scope == budget.OfSession("orch-1") {
			spent = a
		}
	}
	if spent.Spent.USD < 0.01 {
		t.Fatalf("the work session has spent %+v", spent)
	}
	s.See(thread.USD(spent.Spent.USD) + " of $50.00")
	if err := syscall.Kill(r.ServerPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.See("no server")
	r.Ok("threads")
	s.See("orch-1", "decided", "completed")
	s.Press("\x1b")
	s.See("n new")
	s.Press("q")
	s.End()
}
