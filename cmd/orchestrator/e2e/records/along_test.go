package records

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// testKey has the shape of a key.
const testKey = "sk-ant-api03-" + "Zx8Kq2Lm9Np4Rs7Tv1Wy3Ab6Cd0Ef5GhJk"

// recorded makes a record of all kinds: a run in a work session, an execution by hand with its bundle, and a terminal.
func recorded(t *testing.T, r *e2e.Rig) (run work.Execution) {
	t.Helper()
	r.Shell(`set -e
orchestrator session init "Implement vector search" --as search
orchestrator bundle prepare --agent-type debugger --scope "Find it" --files spec/requirements.md --session search --output b1.json
printf 'token: ` + testKey + `\n' > secret.md
orchestrator bundle prepare --agent-type tester --scope "Test it" --files secret.md --session search --output b2.json
orchestrator exec init "Find it" --as hand-1 --type debugger --session search --bundle b1.json
orchestrator exec complete hand-1 --message "found" --deliverables lib/vector-search.ts
orchestrator exec init "Test it" --as hand-2 --type tester --session search --bundle b2.json`)
	run = e2e.Get[work.Execution](r, "run", "--once", "-a", "demo", "--session", "search", "--type", "implementor", "write made.txt: one")
	r.Turn(r.Demo("terminal"), "write t.txt: two")
	return run
}

// answers returns what the record says, without what differs from machine to machine.
func answers(t *testing.T, r *e2e.Rig) string {
	t.Helper()
	var all []string
	for _, args := range [][]string{{"session", "show", "search"}, {"exec", "query"}, {"history", "context", "debugger", "--full"},
		{"history", "who", "search"}, {"history", "bundles"}, {"stats", "--by", "type"}, {"bundle", "show", "bundle-001"}} {
		got := r.Run(append(args, "--json")...)
		if got.Code != 0 {
			t.Fatalf("%v: %s%s", args, got.Stdout, got.Stderr)
		}
		all = append(all, strings.Join(args, " ")+"\n"+got.Stdout)
	}
	return strings.Join(all, "\n")
}

// TestTakenAlong backs up a record of all kinds, loses the state, and restores it: the answers are the same, and restoring
// again, or beside what took the names meanwhile, changes nothing of what is there.
func TestTakenAlong(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := withFiles(t)
	recorded(t, r)
	r.Ok("stop", "--force")
	before := answers(t, r)
	whole, clean := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "clean")
	wrote := e2e.Get[thread.BackupReport](r, "backup", "--with-secrets", whole)
	if wrote.Executions < 4 || wrote.Sessions != 1 || wrote.Bundles != 2 || len(wrote.Notes) > 0 {
		t.Errorf("%+v", wrote)
	}
	r.Ok("backup", clean)
	if b, err := os.ReadFile(clean); err != nil || strings.Contains(string(b), testKey) {
		t.Errorf("a secret is in the backup without them: %v", err)
	}
	r.LoseState()
	back := e2e.Get[thread.BackupReport](r, "restore-backup", whole)
	if back.Executions != wrote.Executions || back.Sessions != 1 || back.Bundles != 2 || back.Recorded != 0 {
		t.Errorf("%+v", back)
	}
	if after := answers(t, r); after != before {
		t.Errorf("other answers:\n%s\nwere\n%s", after, before)
	}
	again := e2e.Get[thread.BackupReport](r, "restore-backup", whole)
	if again.Executions+again.Sessions+again.Bundles != 0 || again.Recorded != wrote.Executions+3 {
		t.Errorf("again: %+v", again)
	}
	r.Ok("bundle", "allocate", "hand-2", "bundle-001")
	r.Ok("output", "collect", "hand-2", "--insights", "after it was restored")
	if r.Ok("exec", "complete", "hand-2", "--message", "tested"); !strings.Contains(r.Ok("exec", "query", "--session", "search"), "hand-2") {
		t.Error("what was open by hand cannot be completed")
	}

	r.LoseState()
	r.Ok("session", "init", "Another thing", "--as", "search")
	r.Ok("exec", "init", "Another thing", "--as", "hand-1", "--type", "other")
	other := e2e.Get[thread.BackupReport](r, "restore-backup", whole)
	if notes := strings.Join(other.Notes, "\n"); !strings.Contains(notes, "search → search-2") || !strings.Contains(notes, "hand-1 → hand-1-2") {
		t.Errorf("the names: %s", notes)
	}
	if got := r.Ok("session", "show", "search"); !strings.Contains(got, "Another thing") {
		t.Errorf("what was here: %s", got)
	}
	if got := r.Ok("exec", "query", "--session", "search-2", "--json"); !strings.Contains(got, "hand-1-2") || !strings.Contains(got, "hand-2") {
		t.Errorf("what came: %s", got)
	}
}

// TestArchiveHasItsRows exports a run and imports it elsewhere: its execution, bundle and work session come along, as those
// of the imported thread, and nothing else does.
func TestArchiveHasItsRows(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := withFiles(t)
	run := recorded(t, r)
	archive := filepath.Join(t.TempDir(), "run")
	r.Ok("export", string(run.Thread), "-o", archive)
	r.LoseState()
	name := e2e.Get[thread.Status](r, "import", archive).Name
	rows := e2e.Get[[]work.Row](r, "exec", "query")
	if len(rows) != 1 || rows[0].AgentType != "implementor" || rows[0].Session != "search" || rows[0].Status != "completed" {
		text, _ := json.Marshal(rows)
		t.Errorf("%s", text)
	}
	if len(rows) > 0 && rows[0].Thread != r.Status(name).ID {
		t.Errorf("it is %s's, not %s's", rows[0].Thread, r.Status(name).ID)
	}
	r.Ok("import", archive)
	if rows := e2e.Get[[]work.Row](r, "exec", "query"); len(rows) != 2 {
		t.Errorf("%d rows after another import", len(rows))
	}
}
