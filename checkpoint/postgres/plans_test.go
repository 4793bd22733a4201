package postgres_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"orchestrator/checkpoint/plantest"
	"orchestrator/checkpoint/postgres"
	"orchestrator/checkpoint/workrow"
	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

func TestPlans(t *testing.T) {
	server.URL(t)
	var mu sync.Mutex
	type opened struct {
		s       *postgres.Store
		project string
	}
	all := map[plan.Store]opened{}
	keep := func(t *testing.T, project string, now func() time.Time) plan.Store {
		s := open(t, project, "h")
		p := s.Work(now).Plans()
		mu.Lock()
		defer mu.Unlock()
		all[p] = opened{s, project}
		return p
	}
	plantest.Run(t, plantest.Harness{
		Open: func(t *testing.T, now func() time.Time) plan.Store { return keep(t, unique(t), now) },
		Reopen: func(t *testing.T, old plan.Store, now func() time.Time) plan.Store {
			if err := all[old].s.Close(); err != nil {
				t.Fatal(err)
			}
			return keep(t, all[old].project, now)
		},
		Second: func(t *testing.T, s plan.Store) plan.Store { return keep(t, all[s].project, nil) },
	})
}

// TestPlansShared has two servers in one project and one in another: names are the project's, the rest a host's own.
func TestPlansShared(t *testing.T) {
	ctx := t.Context()
	project := unique(t)
	a, b, other := open(t, project, "a").Work(nil).Plans(), open(t, project, "b").Work(nil).Plans(), open(t, unique(t), "a").Work(nil).Plans()
	var names []string
	for _, s := range []plan.Store{a, b, other, a} {
		k, err := s.AddTask(ctx, plan.Task{Title: "t", PlanName: "brief"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, k.Name)
		if err := s.Arm(ctx, plan.Armed{Name: "brief", Plan: plantest.Seven(), On: true}); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(names, " "); got != "task-001 task-002 task-001 task-003" {
		t.Error(got)
	}
	if _, err := b.Task(ctx, "task-001"); !errors.Is(err, thread.ErrNotFound) {
		t.Error(err)
	}
	list, err := a.Tasks(ctx, plan.TaskQuery{Plan: "brief"})
	if err != nil || len(list) != 2 {
		t.Errorf("%v: %v", list, err)
	}
	k, ok, err := b.TakeTask(ctx, "brief", "s", time.Now(), func(plan.Task) ([]plan.Node, error) { return plantest.SevenNodes(), nil })
	if err != nil || !ok || k.Name != "task-002" {
		t.Errorf("%v %v: %v", k.Name, ok, err)
	}
}

// TestPlansHold: the database itself refuses edges that lead forward, a second current version, and changes of what stays.
func TestPlansHold(t *testing.T) {
	ctx := t.Context()
	s := open(t, unique(t), "h").Work(nil).Plans()
	p := plantest.Seven()
	k, err := s.AddTask(ctx, plan.Task{Title: "t", Status: plan.InProgress, Plan: &p}, plantest.SevenNodes())
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"1", "2"} {
		if _, _, err := s.Deliver(ctx, plan.HandOver{Task: k.Name, Agent: "vision", Data: data}, plan.Anyway, nil); err != nil {
			t.Fatal(err)
		}
	}
	of := "(SELECT n FROM orchestrator.plan_task WHERE id = '" + k.ID + "')"
	for query, says := range map[string]string{
		"INSERT INTO orchestrator.plan_edge VALUES (" + of + ", 4, 0, 1)":      "earlier waves",
		"INSERT INTO orchestrator.plan_edge VALUES (" + of + ", 4, 5, 1)":      "earlier waves",
		"INSERT INTO orchestrator.plan_edge VALUES (" + of + ", 0, 99, 1)":     "earlier waves",
		"UPDATE orchestrator.plan_edge SET node = 0 WHERE task = " + of:        "does not change",
		"UPDATE orchestrator.plan_node SET wave = 9 WHERE task = " + of:        "does not change",
		"UPDATE orchestrator.plan_handover SET data = '3' WHERE task = " + of:  "does not change",
		"UPDATE orchestrator.plan_handover SET current = 1 WHERE task = " + of: "plan_handover_current",
		"UPDATE orchestrator.plan_event SET doc = '' WHERE task = " + of:       "neither changed nor removed",
		"DELETE FROM orchestrator.plan_event WHERE task = " + of:               "neither changed nor removed",
		"TRUNCATE orchestrator.plan_event":                                     "neither changed nor removed",
		"INSERT INTO orchestrator.plan_handover SELECT 9, project, host, 'x', task, agent, version, 0, type, token, created, key, sum, doc, data FROM orchestrator.plan_handover WHERE task = " + of: "",
	} {
		if err := run(t, query); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// TestPlansUpgrade opens a database of version 5, in which executions are: they stay, tasks of plans are kept from then on,
// and the step back leaves the executions.
func TestPlansUpgrade(t *testing.T) {
	ctx := t.Context()
	url := server.Database(t, "plans")
	if err := postgres.MigrateTo(ctx, url, 5); err != nil {
		t.Fatal(err)
	}
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	x := work.Execution{ID: "0123456789abcdef", Name: "exec-001", Lost: work.PolicyAsk, Thread: "0123456789abcde0", Agent: "demo", State: work.Queued, Created: time.Unix(1, 0).UTC()}
	r, err := workrow.Pack(0, x)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"INSERT INTO orchestrator.project (name) VALUES ('p')", "INSERT INTO orchestrator.work_number (project, prefix, last) VALUES (1, 'exec', 1)"} {
		if _, err := c.Exec(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Exec(ctx, "INSERT INTO orchestrator.work (project, host, id, name, thread, state, sum, doc) VALUES (1, 'h', $1, $2, $3, $4, $5, $6)",
		string(r.ID), r.Name, string(r.Thread), string(r.State), r.Sum, r.Doc); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s, err := postgres.Open(ctx, url, postgres.Options{Project: "p", Host: "h"})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Work(nil).Execution(ctx, "exec-001"); err != nil || got != x {
			t.Errorf("%+v: %v", got, err)
		}
		if _, at := plantest.Example(t, s.Work(nil).Plans()); at.Name != "task-001" {
			t.Error(at.Name)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := postgres.Undo(ctx, url, 5); err != nil {
			t.Fatal(err)
		}
	}
}
