package workdb_test

import (
	"path/filepath"
	"testing"
	"time"

	"orchestrator/checkpoint/plantest"
	"orchestrator/checkpoint/workdb"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// TestPlanExpire: retention removes the tasks that ended before its limit with all that is theirs, and plans that nothing
// names any more; a dry run counts the same and removes nothing.
func TestPlanExpire(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "work.db")
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := open(t, path, workdb.Options{Now: func() time.Time { return now }})
	p := s.Plans()
	plantest.Many(t, p, 12) // of three plans, all armed once
	end := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if _, err := p.ChangeTask(ctx, name, plan.Anyway, func(k *plan.Task) error { k.Status = plan.Complete; return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
	other := plantest.Seven()
	other.Description = "once only"
	once, err := p.AddTask(ctx, plan.Task{Title: "once", Status: plan.InProgress, Plan: &other}, plantest.SevenNodes())
	if err != nil {
		t.Fatal(err)
	}
	end("task-001", "task-002", "task-003", "task-004", "task-005", "task-006", "task-007", once.Name)
	now = now.Add(time.Hour)
	end("task-008")
	for _, dry := range []bool{true, false} {
		done, err := s.Expire(ctx, now, dry)
		if err != nil || done.Tasks != 8 || done.Bytes == 0 {
			t.Errorf("dry %v: %+v: %v", dry, done, err)
		}
	}
	if done, err := s.Expire(ctx, now, false); err != nil || done != (work.Expired{}) {
		t.Errorf("%+v: %v", done, err)
	}
	left, err := p.Tasks(ctx, plan.TaskQuery{Oldest: true})
	if err != nil || len(left) != 5 || left[0].Name != "task-008" {
		t.Errorf("%+v: %v", left, err)
	}
	for query, want := range map[string]int{
		"SELECT count(*) FROM plan_node": 5 * 8, "SELECT count(*) FROM plan_edge": 5 * 19, "SELECT count(DISTINCT task) FROM plan_event": 5,
		"SELECT count(*) FROM plan_handover": 5 * 3, "SELECT count(*) FROM plan_token": 5 * 3, "SELECT count(*) FROM plan_document": 3,
	} {
		var n int
		if count(t, path, query, &n); n != want {
			t.Errorf("%s: %d, want %d", query, n, want)
		}
	}
	m, err := s.Measure(ctx)
	if err != nil || m.Tasks != 5 || m.Handed != 15 {
		t.Errorf("%+v: %v", m, err)
	}
	if k, err := p.AddTask(ctx, plan.Task{Title: "next"}, nil); err != nil || k.Name != "task-014" {
		t.Errorf("%s: %v", k.Name, err)
	}
}
