package records

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// TestCausesOfRealFailures fails what the program itself runs and checks, and finds the causes: a check that contradicts
// what was said, a run whose server was killed, one whose fallback went on, one over its budget, and files that have
// changed or gone since they were given.
func TestCausesOfRealFailures(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	r.Write(".orchestrator.toml", "agent = \"demo\"\n\n[checks]\ntests = \"echo 'FAIL search returns results'; exit 1\"\n")
	r.Write("spec.md", "# Search\n\nIt is quick.\n")
	r.Write("gone.md", "It goes.\n")
	r.Git("add", "-A")
	r.Git("commit", "-qm", "begin the search")
	r.Ok("trust", "--yes")
	r.Ok("session", "init", "--scope", "Build the search", "--session-id", "orch-1")
	wrong := func(name string, code record.FindingCode, says string) {
		t.Helper()
		c := e2e.Get[record.Trace](r, "history", "trace", name)
		if !slices.ContainsFunc(c.Findings, func(f record.Finding) bool { return f.Code == code && !f.Note && strings.Contains(f.Text, says) }) {
			t.Errorf("%s is not found to be %q:\n%s", name, code, r.Ok("history", "trace", name))
		}
	}

	bundle := filepath.Join(t.TempDir(), "bundle.json")
	r.Ok("bundle", "prepare", "--agent-type", "poet", "--scope", "Write a poem", "--files", "spec.md,gone.md", "-o", bundle)
	r.Ok("exec", "init", "Implement the search", "--as", "exec-901", "--type", "implementor", "--session", "orch-1", "--bundle", bundle)
	r.Write("spec.md", "# Search\n\nIt is slow.\n")
	r.Git("rm", "-q", "gone.md")
	r.Write("search.go", "package main\n")
	r.Ok("exec", "complete", "exec-901", "--message", "All tests pass.", "--deliverables", "search.go")
	r.Ok("output", "collect", "exec-901", "--validation-results", "tests:pass")
	if res := r.Run("output", "check", "exec-901"); res.Code == 0 {
		t.Errorf("the check passes: %s", res.Stdout)
	}
	wrong("exec-901", record.FoundLied, "tests: it says pass, and our check says fail")
	wrong("exec-901", record.FoundOtherFor, "made for a poet, and it is an implementor")
	wrong("exec-901", record.FoundChanged, "spec.md")
	wrong("exec-901", record.FoundGone, "gone.md")
	if page := r.Ok("history", "trace", "exec-901"); !strings.Contains(page, "FAIL search returns results") {
		t.Errorf("what the check printed is not shown:\n%s", page)
	}

	ended := func(name string, state work.State) {
		t.Helper()
		e2e.Await(t, name+" to be "+string(state), func() bool { return e2e.Get[work.Execution](r, "exec", "show", name).State == state })
	}
	name := strings.TrimSpace(r.Ok("run", "--once", "-d", "-a", "demo", "--session", "orch-1", "--type", "implementor", "--on-fail", "fallback", "--fallback", "model:demo-2", "say x #401"))
	ended(name, work.Failed)
	wrong(name, record.FoundFailed, "")

	name = strings.TrimSpace(r.Ok("run", "--once", "-d", "-a", "demo", "--session", "orch-1", "--type", "implementor", "--budget", "10", "say something of some length"))
	e2e.Await(t, "the end of "+name, func() bool { return e2e.Get[work.Execution](r, "exec", "show", name).State.Final() })
	x := e2e.Get[work.Execution](r, "exec", "show", name)
	t.Logf("over its budget: %s %q %+v", x.State, x.Reason, x.Usage)
	wrong(name, record.FoundFailed, "budget")

	name = strings.TrimSpace(r.Ok("run", "--once", "-d", "-a", "demo", "--session", "orch-1", "--type", "implementor", "--lost", "ask", "say something #slow:600s"))
	ended(name, work.Running)
	if err := syscall.Kill(r.ServerPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ended(name, work.Lost)
	wrong(name, record.FoundLost, "")
	if page := r.Ok("history", "trace", name); !strings.Contains(page, "exec resume "+name) {
		t.Errorf("what can be done is not said:\n%s", page)
	}
}
