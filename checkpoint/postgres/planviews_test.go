package postgres_test

import (
	"os/exec"
	"strings"
	"testing"

	"orchestrator/checkpoint/plantest"
	"orchestrator/thread/plan"
)

// TestPlanViews reads the views with PostgreSQL's own program, of two projects in one database.
func TestPlanViews(t *testing.T) {
	program, err := exec.LookPath("psql")
	if err != nil {
		t.Skip("SKIPPED: the views are not read by psql: install it")
	}
	project := unique(t)
	plantest.Example(t, open(t, unique(t), "box").Work(nil).Plans())
	s := open(t, project, "box").Work(nil).Plans()
	waits, at := plantest.Example(t, s)
	for _, data := range []string{"a\x00\xff", `{"n": 1e400000, "nul": "\u0000"}`} { // what no JSONB holds
		if _, _, err := s.Deliver(t.Context(), plan.HandOver{Task: at.Name, Agent: "echo", Data: data}, plan.Anyway, nil); err != nil {
			t.Fatal(err)
		}
	}
	columns := func(view string) string {
		return "SELECT string_agg(column_name || ' ' || data_type, ',' ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = '" +
			view + "' AND ordinal_position < 7 AND '@' = '@'"
	}
	for query, want := range map[string]string{
		columns("tasks"):        "id uuid,title text,status text,created_at timestamp with time zone,updated_at timestamp with time zone,task text",
		columns("deliverables"): "id uuid,task_id uuid,agent_name text,output_type text,output_data jsonb,created_at timestamp with time zone",
		"SELECT id, title, status, created_at, task, plan, session_id, recorded_by, host, user_name FROM tasks WHERE project = '@' ORDER BY task": at.ID +
			"|Create Q2 marketing brief for GCG platform|in_progress|2026-02-27 10:00:00+00|task-001|brief|work-001||box|me\n" +
			waits.ID + "|Q3|pending|2026-02-27 10:00:00+00|task-002|brief||0123456789abcdef|box|",
		`SELECT t.title FROM tasks t WHERE t.status = 'pending' AND t.project = '@' AND NOT EXISTS
			(SELECT 1 FROM deliverables d WHERE d.task_id = t.id AND d.agent_name = 'vision')`: "Q3",
		"SELECT agent_name, output_data -> 'search_volume', output_text, version FROM deliverables WHERE task_id = '" + at.ID +
			"' AND agent_name IN ('vision', 'apex') AND current AND project = '@' ORDER BY 1": `apex||{"cpc": 2.45}|1
vision|24000|{"top_keywords": ["AI automation", "CRM integration"], "search_volume": 24000}|2`,
		"SELECT output_data, output_type FROM deliverables WHERE agent_name = 'nova' AND project = '@'":                                  `"# Text\nit's \"so\""|doc`,
		"SELECT output_data, output_text, current, bytes FROM deliverables WHERE agent_name = 'echo' AND project = '@' ORDER BY version": "||f|3\n" + `"{\"n\": 1e400000, \"nul\": \"\\u0000\"}"|{"n": 1e400000, "nul": "\u0000"}|t|32`,
	} {
		query = strings.ReplaceAll(query, "'@'", "'"+project+"'")
		out, err := exec.Command(program, "-XAtq", "-c", "SET search_path = orchestrator; SET timezone = 'UTC'", "-c", query, server.URL(t)).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s:\n%s\nwant\n%s: %v", query, got, want, err)
		}
	}
}
