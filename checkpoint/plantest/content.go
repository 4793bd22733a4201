package plantest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// Example fills a store as the seed's example does: a task that waits, and one at work of which two agents have handed over,
// one of them twice, a third what is no JSON.
func Example(t testing.TB, s plan.Store) (waits, at plan.Task) {
	t.Helper()
	ctx := t.Context()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	when := time.Date(2026, 2, 27, 10, 0, 0, 0, time.UTC)
	p := Seven()
	at, err := s.AddTask(ctx, plan.Task{Title: "Create Q2 marketing brief for GCG platform", Status: plan.InProgress, PlanName: p.Name, Plan: &p, Hash: "h",
		Server: "s1", Created: when, Host: "box", User: "me", Session: "work-001"}, SevenNodes())
	ok(err)
	waits, err = s.AddTask(ctx, plan.Task{Title: "Q3", PlanName: p.Name, Created: when, By: "0123456789abcdef"}, nil)
	ok(err)
	for i, h := range []plan.HandOver{
		{Agent: "vision", Data: `{"search_volume": 23999}`},
		{Agent: "vision", Data: `{"top_keywords": ["AI automation", "CRM integration"], "search_volume": 24000}`, Summary: "volume", Exec: "exec-001",
			Files: []plan.File{{Path: "a.csv", Token: "tok", Hash: "ab", Bytes: 3}}},
		{Agent: "apex", Data: `{"cpc": 2.45}`},
		{Agent: "nova", Type: plan.OutputDoc, Data: "# Text\nit's \"so\""},
	} {
		h.Task, h.Created = at.Name, when.Add(time.Duration(i)*time.Minute)
		_, _, err := s.Deliver(ctx, h, plan.Anyway, delivered)
		ok(err)
	}
	return waits, at
}

// Content is all that a store has of tasks of plans, by what it is called. What is damaged and so refused is left out.
func Content(t testing.TB, s plan.Store) map[string]any {
	t.Helper()
	ctx := t.Context()
	all := map[string]any{}
	ok := func(err error) bool {
		t.Helper()
		if err != nil && !errors.Is(err, thread.ErrDamaged) && !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("%v", err)
		}
		return err == nil
	}
	tasks, err := s.Tasks(ctx, plan.TaskQuery{Limit: 1000})
	ok(err)
	for _, k := range tasks {
		all["task of a plan "+k.Name] = k
		if whole, err := s.Task(ctx, k.Name); ok(err) {
			all["plan of "+k.Name] = whole
		}
		nodes, err := s.Nodes(ctx, k.Name)
		ok(err)
		for _, n := range nodes {
			all["node "+k.Name+" "+n.Agent] = n
		}
		events, err := s.Events(ctx, k.Name, 0, 10_000)
		ok(err)
		for _, e := range events {
			all[fmt.Sprint("event of ", k.Name, " ", e.Seq)] = e
		}
	}
	handed, err := s.HandOvers(ctx, plan.HandOverQuery{Limit: 1000})
	ok(err)
	for _, h := range handed {
		all[fmt.Sprint("deliverable ", h.Task, " ", h.Agent, " ", h.Version)] = h
		if h.Token != "" {
			opens, err := s.Opens(ctx, h.Token)
			ok(err)
			for _, o := range opens {
				all[fmt.Sprint("opened ", o.Task, " ", o.Agent, " ", o.Version)] = o
			}
		}
	}
	armed, err := s.Armed(ctx)
	ok(err)
	for _, a := range armed {
		all["armed "+a.Name] = a
	}
	return all
}

// Many fills a store with tasks of the seven agents, some of them at work.
func Many(t testing.TB, s plan.Store, tasks int) {
	t.Helper()
	ctx := t.Context()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range tasks {
		p := Seven()
		p.Description = fmt.Sprint("plan ", i/4)
		p.Name = fmt.Sprint("brief", i/4)
		k, err := s.AddTask(ctx, plan.Task{Title: fmt.Sprint("task ", i), Body: strings.Repeat("body ", 20), Status: plan.InProgress, PlanName: p.Name, Plan: &p}, SevenNodes())
		ok(err)
		for j, agent := range []string{"vision", "apex", "vision"} {
			_, _, err := s.Deliver(ctx, plan.HandOver{Task: k.Name, Agent: agent, Data: fmt.Sprintf(`{"n": %d, "text": %q}`, j, strings.Repeat("word ", 40))},
				plan.Anyway, delivered)
			ok(err)
			ok(s.SetToken(ctx, k.Name, agent, 0, thread.Token(fmt.Sprintf("tok-%d-%d", i, j))))
		}
		ok(s.Note(ctx, k.Name, plan.Event{Text: strings.Repeat("a remark ", 10)}))
		if i%4 == 0 {
			ok(s.Arm(ctx, plan.Armed{Name: p.Name, Plan: p, On: true, AtOnce: 2}))
		}
	}
}
