package workdb_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/checkpoint/plantest"
	"orchestrator/checkpoint/workdb"
	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// TestPlanRescue: of a damaged file all that can be read of tasks is copied, with what is derived of it: edges, tokens, and
// which version is current. Names are not given again. A task at work of which parts are lost has failed, and says so.
func TestPlanRescue(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "work.db")
	s := open(t, path, workdb.Options{})
	plantest.Many(t, s.Plans(), 4)
	before := plantest.Content(t, s.Plans())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	suspect := func() {
		t.Helper()
		if err := os.WriteFile(path+"-suspect", []byte("found before"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	suspect()
	s = open(t, path, workdb.Options{})
	for what, v := range plantest.Content(t, s.Plans()) {
		if !equal(before[what], v) {
			t.Errorf("%s is %+v, was %+v", what, v, before[what])
		}
	}
	if !strings.Contains(s.Report(), "4 tasks of plans") || !strings.Contains(s.Report(), "12 deliverables") || strings.Contains(s.Report(), "are gone") {
		t.Error(s.Report())
	}
	p := s.Plans()
	_, nodes, err := p.Deliver(ctx, plan.HandOver{Task: "task-001", Agent: "apex", Data: "7"}, plan.Anyway, nil)
	if err != nil || len(nodes) != 1 || nodes[0].Version != 2 {
		t.Fatalf("%+v: %v", nodes, err)
	}
	var edges int
	count(t, path, "SELECT count(*) FROM plan_edge", &edges)
	if edges != 4*(3+4*4) {
		t.Errorf("%d edges", edges)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	outside(t, path, "UPDATE plan_node SET doc = x'00' WHERE task = 2 AND agent = 'echo'")
	outside(t, path, "UPDATE plan_document SET data = x'00' WHERE n = (SELECT document FROM plan_task WHERE n = 3)")
	suspect()
	s = open(t, path, workdb.Options{})
	p = s.Plans()
	if !strings.Contains(s.Report(), "tasks that were at work have failed, as parts of them are lost (task-001, task-002, task-003, task-004)") {
		t.Error(s.Report()) // the four share the plan
	}
	if k, err := p.Tasks(ctx, plan.TaskQuery{}); err != nil || len(k) != 4 {
		t.Errorf("%v: %v", k, err)
	}
	if _, err := p.Task(ctx, "task-003"); !errors.Is(err, thread.ErrDamaged) {
		t.Error(err)
	}
	if k, err := p.AddTask(ctx, plan.Task{Title: "t"}, nil); err != nil || k.Name != "task-005" {
		t.Errorf("%s: %v", k.Name, err)
	}
}

// TestPlanDamage: what is damaged of a task is refused where it is read alone, stands for itself in lists, and hides no other.
func TestPlanDamage(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "work.db")
	s := open(t, path, workdb.Options{})
	p := s.Plans()
	plantest.Many(t, p, 2)
	for _, q := range []string{
		"DROP TRIGGER plan_handover_stays; UPDATE plan_handover SET data = CAST(replace(CAST(data AS TEXT), 'word', 'wore') AS BLOB) WHERE task = 1 AND agent = 'apex'",
		"UPDATE plan_node SET doc = CAST(replace(CAST(doc AS TEXT), 'echo', 'echp') AS BLOB) WHERE task = 1 AND agent = 'echo'",
		"UPDATE plan_node SET state = 'delivered' WHERE task = 1 AND agent = 'pixel'",
		"UPDATE plan_task SET doc = CAST(replace(CAST(doc AS TEXT), 'body', 'bodz') AS BLOB) WHERE n = 2",
		"DROP TRIGGER plan_event_stays; UPDATE plan_event SET doc = x'00' WHERE task = 1 AND seq = 1",
	} {
		outside(t, path, q)
	}
	is := func(_ any, err error) {
		t.Helper()
		if !errors.Is(err, thread.ErrDamaged) {
			t.Error(err)
		}
	}
	is(p.Task(ctx, "task-002"))
	is(p.Node(ctx, "task-001", "echo"))
	is(p.Node(ctx, "task-001", "pixel"))
	is(p.HandOver(ctx, "task-001", "apex", 0))
	is(p.ChangeNodes(ctx, "task-001", map[string]int64{"echo": plan.Anyway}, func(*plan.Node) error { return nil }))
	tasks, err := p.Tasks(ctx, plan.TaskQuery{})
	if err != nil || len(tasks) != 2 || !strings.Contains(tasks[0].Title, "damaged") || tasks[0].Name != "task-002" || tasks[1].Title != "task 0" {
		t.Errorf("%+v: %v", tasks, err)
	}
	nodes, err := p.Nodes(ctx, "task-001")
	if err != nil || len(nodes) != 8 || nodes[4].State != plan.NodeFailed || !strings.Contains(nodes[4].Reason, "damaged") || nodes[6].State != plan.NodeWaiting {
		t.Errorf("%+v: %v", nodes, err)
	}
	handed, err := p.HandOvers(ctx, plan.HandOverQuery{Task: "task-001", Current: true})
	if err != nil || len(handed) != 2 || !strings.Contains(handed[1].Summary+handed[0].Summary, "damaged") {
		t.Errorf("%+v: %v", handed, err)
	}
	events, err := p.Events(ctx, "task-001", 0, 0)
	if err != nil || !strings.Contains(events[0].Text, "damaged") || strings.Contains(events[1].Text, "damaged") {
		t.Errorf("%+v: %v", events, err)
	}
	// It hands over again, and is whole.
	h, _, err := p.Deliver(ctx, plan.HandOver{Task: "task-001", Agent: "apex", Data: "1"}, plan.Anyway, nil)
	if err != nil || h.Version != 2 {
		t.Errorf("%+v: %v", h, err)
	}
}
