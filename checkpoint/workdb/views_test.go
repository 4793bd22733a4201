package workdb_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/workdb"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// inRecord fills a store as the seed's example does, with a run beside that waits, and one whose record is damaged.
func inRecord(t *testing.T, s *workdb.Store, path string) {
	t.Helper()
	ctx := t.Context()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	at := time.Date(2025, 1, 17, 10, 0, 0, 0, time.UTC)
	_, err := s.AddSession(ctx, work.Session{Name: "orch-2025-01-17-001", Scope: "Implement vector search feature", Created: at,
		Phase: work.PhaseExecute, Status: work.SessionExecuting, Metadata: json.RawMessage(`{"a":[1]}`), Host: "box", User: "me"})
	ok(err)
	_, err = s.AddSession(ctx, work.Session{Name: "given-up", Scope: "x", Created: at, Status: work.SessionCancelled})
	ok(err)
	x, err := s.Add(ctx, work.Execution{ID: thread.NewID[work.ID](), Name: "exec-001", Kind: work.KindHand, State: work.Deployed,
		Session: "orch-2025-01-17-001", Type: "task-implementor", Scope: "Implement HNSW algorithm", Context: 15000, Model: "sonnet",
		Created: at, Host: "box", User: "me", Agent: "demo"})
	ok(err)
	said := "It works.\n" + strings.Repeat("All of it. ", 5000) + "END"
	x, err = s.Change(ctx, x.ID, x.Fence, func(x *work.Execution) error {
		x.State, x.Ended, x.Answer = work.Completed, at.Add(time.Hour), "It works."
		return nil
	}, work.Event{Kind: work.KindSaid, Text: said})
	ok(err)
	_, err = s.AddOutputs(ctx, x.ID, []work.Output{
		{Type: work.OutputDeliverable, Path: "lib/v.ts", Content: json.RawMessage(`{"file_path":"lib/v.ts","lines_added":150}`), Created: at},
		{Type: work.OutputInsight, Content: json.RawMessage(`"HNSW provides O(log n)"`), Metadata: work.OutputMetadata{Claimed: true}, Created: at}})
	ok(err)
	ok(s.Allocate(ctx, x.ID, []work.Allocation{{Type: work.ItemFile, Source: "spec.md", Tokens: 1500, Included: true},
		{Type: work.ItemReference, Source: "hnsw.md", Tokens: 3000}}))
	add(t, s, "t1") // it is queued: no view has it
	bad := add(t, s, "t2")
	bad, err = s.Claim(ctx, bad.ID, "s", at)
	ok(err)
	_, err = s.Change(ctx, bad.ID, bad.Fence, func(x *work.Execution) error { x.State, x.Reason = work.Failed, "no luck"; return nil })
	ok(err)
	lost := add(t, s, "t3")
	_, err = s.Supersede(ctx, lost.ID, func(x *work.Execution) error { x.State = work.Cancelled; return nil })
	ok(err)
	outside(t, path, "UPDATE work SET doc = x'7b00ff' WHERE id = ?", string(lost.ID))
}

// TestViews reads the views with SQLite's own program while the store is open, and while it writes.
func TestViews(t *testing.T) {
	program, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("SKIPPED: the views are not read by sqlite3: install it")
	}
	path := filepath.Join(t.TempDir(), "work.db")
	s := open(t, path, workdb.Options{})
	inRecord(t, s, path)
	read := func(query string) string {
		t.Helper()
		out, err := exec.Command(program, "-readonly", path, query).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", query, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	stop := make(chan struct{})
	wrote := make(chan error, 1)
	go func() { // it goes on writing
		var err error
		x := work.Execution{ID: thread.NewID[work.ID](), Thread: "t9", Agent: "demo", Lost: work.PolicyAsk}
		x, err = s.Add(t.Context(), x)
		for err == nil {
			select {
			case <-stop:
				wrote <- nil
				return
			default:
				err = s.Append(t.Context(), x.ID, x.Fence, work.Event{Kind: "text", Text: "more"})
			}
		}
		wrote <- err
	}()
	for query, want := range map[string]string{
		"SELECT session_id, created_at, scope, phase, status, metadata, host, user_name FROM sessions ORDER BY 1": "given-up|2025-01-17 10:00:00|x|0|failed|||\n" +
			`orch-2025-01-17-001|2025-01-17 10:00:00|Implement vector search feature|3|executing|{"a":[1]}|box|me`,
		`SELECT execution_id, session_id, agent_type, deployed_at, completed_at, status, scope, context_token_count, model, success,
			error_message, origin, kind FROM agent_executions WHERE session_id = 'orch-2025-01-17-001'`: "exec-001|orch-2025-01-17-001|task-implementor|" +
			"2025-01-17 10:00:00|2025-01-17 11:00:00|completed|Implement HNSW algorithm|15000|sonnet|1||hand|hand",
		"SELECT length(final_message), substr(final_message, -4) FROM agent_executions WHERE execution_id = 'exec-001'": "55013| END",
		"SELECT execution_id, status, success, error_message, origin FROM agent_executions WHERE session_id IS NULL":    "exec-003|failed|0|no luck|ours\nexec-004|failed|0|cancelled|ours",
		"SELECT output_id, execution_id, output_type, content, created_at, metadata, path, version, current, claimed FROM outputs ORDER BY 1": `1|exec-001|deliverable|{"file_path":"lib/v.ts","lines_added":150}|2025-01-17 10:00:00|{"agent_type":"task-implementor","model":"sonnet"}|lib/v.ts|1|1|0` + "\n" +
			`2|exec-001|insight|HNSW provides O(log n)|2025-01-17 10:00:00|{"agent_type":"task-implementor","model":"sonnet","claimed":true}|||1|1`,
		"SELECT allocation_id, execution_id, context_type, context_source, token_count, included_in_deployment FROM context_allocations ORDER BY 1":              "1|exec-001|file|spec.md|1500|1\n2|exec-001|reference|hnsw.md|3000|0",
		"SELECT count(*) FROM sessions JOIN agent_executions USING (session_id) JOIN outputs USING (execution_id) JOIN context_allocations USING (execution_id)": "4",
	} {
		if got := read(query); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", query, got, want)
		}
	}
	close(stop)
	if err := <-wrote; err != nil {
		t.Error(err)
	}
	out, err := exec.Command(program, "-readonly", path, "DELETE FROM work").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "readonly") {
		t.Errorf("it can be written: %v: %s", err, out)
	}
}
