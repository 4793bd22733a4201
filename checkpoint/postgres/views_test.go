package postgres_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// TestWorkViews reads the views with PostgreSQL's own program, of two projects in one database.
func TestWorkViews(t *testing.T) {
	program, err := exec.LookPath("psql")
	if err != nil {
		t.Skip("SKIPPED: the views are not read by psql: install it")
	}
	ctx := t.Context()
	project := unique(t)
	at := time.Date(2025, 1, 17, 10, 0, 0, 0, time.UTC)
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{project, unique(t)} {
		s := open(t, name, "box").Work(nil)
		_, err := s.AddSession(ctx, work.Session{Name: "orch-1", Scope: "Implement it", Created: at, Phase: 3, Metadata: json.RawMessage(`{"a":1}`)})
		ok(err)
		x, err := s.Add(ctx, work.Execution{ID: thread.NewID[work.ID](), Name: "exec-001", Kind: work.KindHand, State: work.Deployed, Session: "orch-1",
			Type: "implementor", Scope: "part", Context: 15000, Model: "sonnet", Created: at})
		ok(err)
		_, err = s.Change(ctx, x.ID, x.Fence, func(x *work.Execution) error { x.State, x.Ended = work.Completed, at.Add(time.Hour); return nil },
			work.Event{Kind: work.KindSaid, Text: strings.Repeat("all of it\x00 ", 5000) + "END"})
		ok(err)
		_, err = s.AddOutputs(ctx, x.ID, []work.Output{{Type: work.OutputInsight, Content: json.RawMessage(`"O(log n)"`), Created: at}})
		ok(err)
		ok(s.Allocate(ctx, x.ID, []work.Allocation{{Type: work.ItemFile, Source: "a.md", Tokens: 5, Included: true}}))
		bad, err := s.Add(ctx, ask("t1"))
		ok(err)
		_, err = s.Supersede(ctx, bad.ID, func(x *work.Execution) error { x.State = work.Cancelled; return nil })
		ok(err)
		_, err = s.Add(ctx, ask("t2")) // it is queued
		ok(err)
		if name == project {
			sql(t, "UPDATE orchestrator.work SET doc = '\\xff00' WHERE id = $1", string(bad.ID))
		}
	}
	for query, want := range map[string]string{
		"SELECT session_id, created_at, scope, phase, status, metadata, host FROM sessions": `orch-1|2025-01-17 10:00:00+00|Implement it|3|planning|{"a": 1}|box`,
		`SELECT execution_id, session_id, agent_type, deployed_at, completed_at, status, scope, context_token_count, model, success, error_message, origin
			FROM agent_executions`: "exec-001|orch-1|implementor|2025-01-17 10:00:00+00|2025-01-17 11:00:00+00|completed|part|15000|sonnet|t||hand\n" +
			"exec-002||demo|@||failed||0||f|cancelled|ours",
		"SELECT length(final_message), right(final_message, 3) FROM agent_executions WHERE session_id = 'orch-1'":         "55003|END",
		"SELECT execution_id, output_type, content, created_at, current FROM outputs":                                     "exec-001|insight|O(log n)|2025-01-17 10:00:00+00|t",
		"SELECT execution_id, context_type, context_source, token_count, included_in_deployment FROM context_allocations": "exec-001|file|a.md|5|t",
	} {
		if strings.Contains(query, "WHERE") {
			query += " AND project = '" + project + "'"
		} else {
			query += " WHERE project = '" + project + "'"
		}
		if strings.Contains(query, "deployed_at") {
			query = strings.NewReplacer("deployed_at", "CASE WHEN origin = 'hand' THEN deployed_at::text ELSE '@' END", "completed_at", "CASE WHEN origin = 'hand' THEN completed_at::text END").Replace(query + " ORDER BY 1")
		}
		out, err := exec.Command(program, "-XAtq", "-c", "SET search_path = orchestrator; SET timezone = 'UTC'", "-c", query, server.URL(t)).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s:\n%s\nwant\n%s: %v", query, got, want, err)
		}
	}
}
