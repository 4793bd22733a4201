package server

import (
	"testing"
	"time"

	planmemory "orchestrator/checkpoint/plantest/memory"
	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// TestWhatIsHandedOverIsKept: its staged files are needed while the task has it, those of older versions as well.
func TestWhatIsHandedOverIsKept(t *testing.T) {
	t.Parallel()
	store := planmemory.New(time.Now)
	p := plan.Plan{Name: "p", Agents: []plan.Agent{{Name: "vision", Prompt: "look"}}}
	nodes, err := plan.Layout(p)
	if err != nil {
		t.Fatal(err)
	}
	task, err := store.AddTask(t.Context(), plan.Task{Title: "t", Status: plan.InProgress, Plan: &p, PlanName: p.Name}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	pins := &handedPins{store: func() plan.Store { return store }}
	put := func(token thread.Token) {
		t.Helper()
		h := plan.HandOver{Task: task.Name, Agent: "vision", Data: "1", Files: []plan.File{{Path: "x", Token: token, Hash: string(token)}}}
		if _, _, err := store.Deliver(t.Context(), h, plan.Anyway, func(n *plan.Node) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	needs := func() map[thread.Token][]string {
		t.Helper()
		all := map[thread.Token][]string{}
		if err := pins.find(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	for n, token := range []thread.Token{"max:00000001", "max:00000002", "max:00000003"} {
		put(token)
		if all := needs(); len(all) != n+1 || len(all[token]) != 1 {
			t.Errorf("after %s: %v", token, all)
		}
	}
	if got := needs()["max:00000002"]; len(got) != 1 || got[0] != "version 2 of vision of "+task.Name {
		t.Errorf("%q", got)
	}
	_, err = store.ChangeTask(t.Context(), task.Name, plan.Anyway, func(s *plan.Task) error {
		s.Status, s.Ended = plan.Cancelled, time.Now().Add(-time.Hour)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if names, err := store.PurgeTasks(t.Context(), time.Now(), 10); err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	pins.whole = time.Time{}
	if all := needs(); len(all) != 0 {
		t.Errorf("the task is gone: %v", all)
	}
}
