package records

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/killtest"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// deliverables returns the deliverables of an execution by path.
func deliverables(t *testing.T, r *e2e.Rig, name string) map[string]work.Deliverable {
	t.Helper()
	found := map[string]work.Deliverable{}
	for _, o := range e2e.Get[[]work.Output](r, "output", "query", "--execution", name, "--output-type", "deliverable") {
		var d work.Deliverable
		if err := json.Unmarshal(o.Content, &d); err != nil || o.Execution != name {
			t.Fatalf("%+v, %v", o, err)
		}
		if _, twice := found[d.Path]; twice {
			t.Errorf("%s has %s twice", name, d.Path)
		}
		found[d.Path] = d
	}
	return found
}

// TestRunsDeliver: what a run has made of files is written down by itself, and nothing of what the person had not committed;
// a run that wrote nothing has none.
func TestRunsDeliver(t *testing.T) {
	r := e2e.NewRig(t)
	r.Write("a.txt", "1\n2\n3\n")
	r.Git("add", "-A")
	r.Git("commit", "-qm", "a")
	r.Write("a.txt", "1\n2\n3\nthe person's\n")
	r.Write("mine.txt", "the person's\n")
	r.Ok("run", "--once", "-a", "demo", "--as", "quiet", "hello")
	r.Ok("run", "--once", "-a", "demo", "--as", "writes", "write out.txt: done")
	var got map[string]work.Deliverable
	for end := time.Now().Add(20 * time.Second); len(got) == 0 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		got = deliverables(t, r, "writes")
	}
	x := e2e.Get[work.Execution](r, "exec", "show", "writes")
	d := got["out.txt"]
	if len(got) != 1 || d.Added != 1 || d.Modified+d.Deleted > 0 || d.Base != x.Base || d.Blob == "" || x.Base == "" || x.Result == "" || x.Dir != r.Project {
		t.Errorf("%+v of %+v", got, x)
	}
	if got := deliverables(t, r, "quiet"); len(got) > 0 {
		t.Errorf("a run that wrote nothing delivers %+v", got)
	}
	// A server that was killed before it came to this leaves it to the next one; what is there is not there twice.
	for range 3 {
		r.KillAll()
		r.Ok("threads")
		time.Sleep(300 * time.Millisecond)
	}
	if got := deliverables(t, r, "writes"); len(got) != 1 {
		t.Errorf("after kills: %+v", got)
	}
}

// TestSeedsOutputs: the commands of the seed's output collector, and a claim that a check denies.
func TestSeedsOutputs(t *testing.T) {
	r := e2e.NewRig(t)
	r.Write("lib/types.ts", "export type A = {}\n")
	r.Git("add", "-A")
	r.Git("commit", "-qm", "types")
	r.Ok("execution_tracker", "init-session", "--scope", "Implement vector search feature", "--session-id", "orch-2025-01-17-001")
	r.Ok("execution_tracker", "init-deployment", "--session-id", "orch-2025-01-17-001", "--execution-id", "exec-001", "--agent-type", "systematic-debugger",
		"--scope", "Implement HNSW algorithm", "--context-token-count", "15000", "--model", "sonnet")
	r.Write("lib/vector-search.ts", "1\n2\n3\n")
	r.Write("tests/vector-search.test.ts", "1\n")
	r.Write("lib/types.ts", "export type B = {}\n")
	r.Ok("execution_tracker", "record-completion", "--execution-id", "exec-001", "--status", "completed", "--final-message", "done",
		"--deliverables", "lib/vector-search.ts,tests/vector-search.test.ts,lib/types.ts")
	r.Ok("output_collector", "collect", "--execution-id", "exec-001", "--deliverables", "lib/vector-search.ts,tests/vector-search.test.ts",
		"--validation-results", "format:pass,lint:pass,types:pass,tests:pass", "--insights", "HNSW provides O(log n) search complexity")
	got := deliverables(t, r, "exec-001") // collected twice, and counted once
	if d := got["lib/vector-search.ts"]; len(got) != 3 || d.Added != 3 || d.Claimed.Says("tests") != "pass" || d.Validation != nil {
		t.Errorf("%+v", got)
	}
	if d := got["lib/types.ts"]; d.Added != 0 || d.Modified != 1 {
		t.Errorf("%+v", d)
	}
	var list []work.Output
	printed := r.Ok("output_collector", "query", "--agent-type", "systematic-debugger", "--limit", "10", "--format", "json")
	if err := json.Unmarshal([]byte(printed), &list); err != nil || len(list) != 5 {
		t.Fatalf("%v\n%s", err, printed)
	}
	for _, name := range []string{`"output_id"`, `"execution_id"`, `"output_type"`, `"file_path"`, `"lines_added"`, `"lines_modified"`, `"created_at"`, `"agent_type": "systematic-debugger"`, `"model": "sonnet"`, `"related_files"`} {
		if !strings.Contains(printed, name) {
			t.Errorf("%s is not in\n%s", name, printed)
		}
	}
	if text := r.Ok("output_collector", "query", "--session-id", "orch-2025-01-17-001", "--output-type", "deliverable"); !strings.Contains(text, "lib/vector-search.ts") || strings.Contains(text, "HNSW") {
		t.Error(text)
	}
	if text := r.Ok("output_collector", "query", "--since", "2025-01-15", "--format", "markdown"); !strings.Contains(text, "| lib/vector-search.ts |") {
		t.Error(text)
	}
	r.Says(exitcode.NotFound, []string{"no checks"}, "output", "check", "exec-001")
	r.Write(".orchestrator.toml", "[checks]\nformat = \"true\"\ntests = \"echo 2 tests fail; exit 1\"\ncoverage = \"echo total 41.5%\"\n")
	r.Ok("restart")
	r.Says(exitcode.NotFound, []string{"no checks"}, "output", "check", "exec-001") // a file of a stranger
	r.Ok("trust", "--yes")
	r.Ok("restart")
	res := r.Run("output", "check", "exec-001")
	if res.Code != exitcode.Error || !strings.Contains(res.Stdout, "! tests: pass (claimed), fail (checked)") || !strings.Contains(res.Stdout, "format: pass (claimed and checked)") ||
		!strings.Contains(res.Stdout, "coverage: 41.5% (checked)") || !strings.Contains(res.Stdout, "2 tests fail") {
		t.Errorf("%+v", res)
	}
	r.Write("lib/vector-search.ts", "1\n2\n3\n4\n")
	if res := r.Run("output", "check", "exec-001", "--only", "format"); res.Code != exitcode.Error || !strings.Contains(res.Stdout, "changed since they were recorded: lib/vector-search.ts") {
		t.Errorf("%+v", res)
	}
	if d := deliverables(t, r, "exec-001")["lib/vector-search.ts"]; d.Validation.Says("tests") != "fail" || d.Claimed.Says("tests") != "pass" {
		t.Errorf("%+v", d)
	}
	r.Ok("output_collector", "synthesize", "--session-id", "orch-2025-01-17-001", "--template", "synthesis-report.tmpl", "--output", "report.md")
	report := r.Read("report.md")
	if !strings.Contains(report, "1 claim of checks denied") || !strings.Contains(report, "| lib/vector-search.ts | 3 |") {
		t.Error(report)
	}
	r.Ok("execution_tracker", "complete-session", "--session-id", "orch-2025-01-17-001")
	r.Ok("session", "report", "orch-2025-01-17-001", "--output", "report.md") // the report of the same work session
	if again := r.Ok("session", "report", "orch-2025-01-17-001"); strings.TrimSpace(again) != strings.TrimSpace(r.Read("report.md")) {
		t.Errorf("it differs from one time to the next:\n%s", again)
	}
	r.Write("other.md", "mine\n")
	r.Says(exitcode.Refused, []string{"--force"}, "session", "report", "orch-2025-01-17-001", "--output", "other.md")
	r.Write("synthesis-report.tmpl", "{{.Session.Name}} by mine\n")
	if text := r.Ok("session", "report", "orch-2025-01-17-001", "--template", "synthesis-report.tmpl"); !strings.Contains(text, "by mine") {
		t.Error(text)
	}
	if _, err := os.Stat(filepath.Join(r.Project, "other.md")); err != nil || r.Read("other.md") != "mine\n" {
		t.Error("a file of the person's was replaced")
	}
}

// TestTerminalsDeliver: what an agent in a terminal has made of files is written down once its process has ended.
func TestTerminalsDeliver(t *testing.T) {
	r := e2e.NewRig(t)
	r.Write("mine.txt", "the person's\n")
	name := r.Demo("-p", "write out.txt: done", "typed")
	r.AwaitState(name, thread.StateDone)
	r.Ok("stop", name)
	var list []work.Output
	e2e.Await(t, "its deliverable", func() bool {
		list = e2e.Get[[]work.Output](r, "output", "query", "--output-type", "deliverable")
		return len(list) > 0
	})
	if len(list) != 1 || list[0].Path != "out.txt" || !strings.HasPrefix(list[0].Execution, "term-") {
		t.Errorf("%+v", list)
	}
}

// TestKilledBeforeDelivery: whenever the server is killed, no deliverable is there without its execution, or twice, and what
// completed runs have made is there.
func TestKilledBeforeDelivery(t *testing.T) {
	r := e2e.NewRig(t)
	rounds := killtest.Rounds(t, 4)
	r.Ok("threads")
	for i := range rounds {
		name := fmt.Sprintf("round-%d", i)
		res := r.Run("run", "--once", "-d", "-a", "demo", "--lost", "fail", "--as", name, fmt.Sprintf("write out-%d.txt: done", i))
		if res.Code != exitcode.OK {
			t.Fatalf("%+v", res)
		}
		time.Sleep(time.Duration(rand.IntN(1200)) * time.Millisecond)
		r.KillAll()
	}
	completed := map[string]bool{}
	e2e.Await(t, "all runs to end", func() bool {
		ended := 0
		for _, x := range e2e.Get[[]work.Row](r, "exec", "query", "-n", "999") {
			if x.Success != nil {
				ended++
				completed[x.Execution] = *x.Success
			}
		}
		return ended >= rounds
	})
	wrote := map[string]int{}
	e2e.Await(t, "what completed runs have made", func() bool {
		wrote = map[string]int{}
		for _, o := range e2e.Get[[]work.Output](r, "output", "query", "--output-type", "deliverable", "-n", "1000") {
			if _, known := completed[o.Execution]; !known {
				t.Fatalf("%s without its execution", o.Path)
			}
			wrote[o.Execution+" "+o.Path]++
		}
		for name, ok := range completed {
			if ok && wrote[name+" out-"+strings.TrimPrefix(name, "round-")+".txt"] == 0 {
				return false
			}
		}
		return true
	})
	for what, n := range wrote {
		if n != 1 {
			t.Errorf("%s is there %d times", what, n)
		}
	}
	t.Logf("%d rounds, %d deliverables", rounds, len(wrote))
}
