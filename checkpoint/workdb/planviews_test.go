package workdb_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/checkpoint/plantest"
	"orchestrator/checkpoint/workdb"
	"orchestrator/thread/plan"
)

// TestPlanViews reads the views with SQLite's own program, by the columns and the questions of the seed.
func TestPlanViews(t *testing.T) {
	program, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("SKIPPED: the views are not read by sqlite3: install it")
	}
	path := filepath.Join(t.TempDir(), "work.db")
	s := open(t, path, workdb.Options{})
	waits, at := plantest.Example(t, s.Plans())
	bad, err := s.Plans().AddTask(t.Context(), plan.Task{Title: "bad"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	outside(t, path, "UPDATE plan_task SET doc = x'7b00ff' WHERE id = ?", bad.ID)
	for query, want := range map[string]string{
		"SELECT group_concat(name) FROM (SELECT name FROM pragma_table_info('tasks') LIMIT 5)":        "id,title,status,created_at,updated_at",
		"SELECT group_concat(name) FROM (SELECT name FROM pragma_table_info('deliverables') LIMIT 6)": "id,task_id,agent_name,output_type,output_data,created_at",
		"SELECT id, title, status, created_at, task, plan, session_id, recorded_by, host, user_name FROM tasks WHERE title <> '' ORDER BY task": at.ID +
			"|Create Q2 marketing brief for GCG platform|in_progress|2026-02-27 10:00:00|task-001|brief|work-001||box|me\n" +
			waits.ID + "|Q3|pending|2026-02-27 10:00:00|task-002|brief||0123456789abcdef||",
		"SELECT task, title, status, host FROM tasks WHERE id = '" + bad.ID + "'": "task-003||pending|",
		// The questions of the seed's agents.
		`SELECT t.title FROM tasks t WHERE t.status = 'pending' AND t.plan = 'brief' AND NOT EXISTS
			(SELECT 1 FROM deliverables d WHERE d.task_id = t.id AND d.agent_name = 'vision')`: "Q3",
		`SELECT DISTINCT t.title FROM tasks t WHERE EXISTS (SELECT 1 FROM deliverables d WHERE d.task_id = t.id AND d.agent_name = 'vision')
			AND NOT EXISTS (SELECT 1 FROM deliverables d WHERE d.task_id = t.id AND d.agent_name = 'echo')`: at.Title,
		"SELECT agent_name, output_type, output_data, created_at, version FROM deliverables WHERE task_id = '" + at.ID +
			"' AND agent_name IN ('vision', 'apex', 'nova') AND current = 1 ORDER BY created_at": `vision|json|{"top_keywords": ["AI automation", "CRM integration"], "search_volume": 24000}|2026-02-27 10:01:00|2
apex|json|{"cpc": 2.45}|2026-02-27 10:02:00|1
nova|doc|# Text
it's "so"|2026-02-27 10:03:00|1`,
		"SELECT output_data ->> '$.search_volume', output_summary, output_files, execution_id, bytes, task, typeof(id), length(id) FROM deliverables WHERE version = 2": `24000|volume|[{"path":"a.csv","token":"tok","sha256":"ab","bytes":3}]|exec-001|78|task-001|text|36`,
		"SELECT count(*) FROM deliverables": "4",
	} {
		out, err := exec.Command(program, "-readonly", path, query).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s:\n%s\nwant\n%s: %v", query, got, want, err)
		}
	}
}

// TestPlansHold: the database itself refuses edges that lead forward, a second current version, and changes of what stays.
func TestPlansHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "work.db")
	s := open(t, path, workdb.Options{})
	plantest.Example(t, s.Plans())
	again := "INSERT INTO plan_handover SELECT %s FROM plan_handover WHERE version = 2"
	for query, says := range map[string]string{
		"INSERT INTO plan_edge VALUES (1, 4, 0, 1)":                                                      "earlier waves", // of a later wave
		"INSERT INTO plan_edge VALUES (1, 4, 5, 1)":                                                      "earlier waves", // of the same wave
		"INSERT INTO plan_edge VALUES (1, 4, 3, 1)":                                                      "earlier waves", // a gate waits for an agent of its wave
		"INSERT INTO plan_edge VALUES (1, 4, 4, 1)":                                                      "earlier waves", // itself
		"INSERT INTO plan_edge VALUES (1, 0, 99, 1)":                                                     "earlier waves", // nobody
		"INSERT INTO plan_edge VALUES (2, 0, 4, 1)":                                                      "earlier waves", // of another task
		"UPDATE plan_edge SET node = 0":                                                                  "does not change",
		"UPDATE plan_node SET wave = 9 WHERE number = 4":                                                 "does not change",
		"UPDATE plan_node SET agent = 'x'":                                                               "does not change",
		"UPDATE plan_handover SET data = x'00'":                                                          "not changed",
		"UPDATE plan_handover SET doc = x'00'":                                                           "not changed",
		"UPDATE plan_handover SET current = 1":                                                           "UNIQUE",
		fmt.Sprintf(again, "9, 'x', task, agent, version, 0, type, token, created, key, sum, doc, data"): "UNIQUE",
		fmt.Sprintf(again, "9, 'x', task, agent, 3, 1, type, token, created, key, sum, doc, data"):       "UNIQUE",
		"UPDATE plan_event SET doc = x'00'":                                                              "not changed",
		"DELETE FROM plan_event":                                                                         "not removed",
	} {
		if err := run(t, path, query); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", query, err)
		}
	}
}
