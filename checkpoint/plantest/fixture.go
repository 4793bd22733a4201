package plantest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/thread/plan"
)

// Harness creates stores to test.
type Harness struct {
	// Open returns a new, empty store with a clock; the suite does not close it.
	Open func(t *testing.T, now func() time.Time) plan.Store
	// Reopen closes a store and opens it again; nil if nothing outlives a store.
	Reopen func(t *testing.T, s plan.Store, now func() time.Time) plan.Store
	// Second opens what a store has open a second time, as another server does; nil if that is not possible.
	Second func(t *testing.T, s plan.Store) plan.Store
}

// fixture is a store with helpers that fail the test on errors.
type fixture struct {
	*testing.T
	store plan.Store
	h     Harness
	ctx   context.Context
	clock atomic.Int64 // seconds since start
}

var start = time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC)

// now is the store's clock: it goes on by a second each time it is asked.
func (f *fixture) now() time.Time { return start.Add(time.Duration(f.clock.Add(1)) * time.Second) }

func (f *fixture) reopen() {
	f.Helper()
	if f.h.Reopen != nil {
		f.store = f.h.Reopen(f.T, f.store, f.now)
	}
}

// second returns another handle of the store, or the store itself if there can be no other.
func (f *fixture) second() plan.Store {
	f.Helper()
	if f.h.Second == nil {
		return f.store
	}
	return f.h.Second(f.T, f.store)
}

func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) is(err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Fatalf("got error %v, want %v", err, want)
	}
}

func (f *fixture) equal(got, want any) {
	f.Helper()
	if !reflect.DeepEqual(got, want) {
		g, _ := json.MarshalIndent(got, "", " ")
		w, _ := json.MarshalIndent(want, "", " ")
		f.Fatalf("got %.4000s\nwant %.4000s", g, w)
	}
}

// Seven is the plan of seed 003: three agents, a gate and four that read the three.
func Seven() plan.Plan {
	p := plan.Plan{Name: "brief", Gates: []plan.Gate{{Name: "go-on", After: 1, Text: "Go on?"}}}
	for _, name := range []string{"vision", "apex", "nova"} {
		p.Agents = append(p.Agents, plan.Agent{Name: name, Wave: 1, Prompt: "Look at <" + name + "> & say."})
	}
	for _, name := range []string{"echo", "pixel", "reel", "social"} {
		p.Agents = append(p.Agents, plan.Agent{Name: name, Wave: 2, Prompt: "Write.", Schema: json.RawMessage(`{"b":1,"a":2.50}`)})
	}
	return p
}

// SevenNodes are the nodes of Seven.
func SevenNodes() []plan.Node {
	wave1 := []string{"vision", "apex", "nova"}
	var out []plan.Node
	for _, name := range wave1 {
		out = append(out, plan.Node{Agent: name, Number: len(out), Wave: 1})
	}
	out = append(out, plan.Node{Agent: "go-on", Gate: true, Number: len(out), Wave: 2, After: wave1})
	for _, name := range []string{"echo", "pixel", "reel", "social"} {
		out = append(out, plan.Node{Agent: name, Number: len(out), Wave: 2, Reads: wave1, After: []string{"go-on"}})
	}
	return out
}

// run adds a task with the seven agents at work.
func (f *fixture) run() plan.Task {
	f.Helper()
	p := Seven()
	t, err := f.store.AddTask(f.ctx, plan.Task{Title: "Create Q2 marketing brief", Status: plan.InProgress, PlanName: p.Name, Plan: &p,
		Hash: "abc", Server: "s1"}, SevenNodes())
	f.ok(err)
	return t
}

// pending adds a task that waits for a plan.
func (f *fixture) pending(title, planName string) plan.Task {
	f.Helper()
	t, err := f.store.AddTask(f.ctx, plan.Task{Title: title, PlanName: planName}, nil)
	f.ok(err)
	return t
}

func (f *fixture) task(ref string) plan.Task {
	f.Helper()
	t, err := f.store.Task(f.ctx, ref)
	f.ok(err)
	return t
}

func (f *fixture) node(task, agent string) plan.Node {
	f.Helper()
	n, err := f.store.Node(f.ctx, task, agent)
	f.ok(err)
	return n
}

// begin has a node begin its next round.
func (f *fixture) begin(task, agent string, given map[string]int) plan.Node {
	f.Helper()
	n := f.node(task, agent)
	all, err := f.store.ChangeNodes(f.ctx, task, map[string]int64{agent: n.Fence}, func(n *plan.Node) error {
		n.Round, n.State, n.Given, n.Stale = n.Round+1, plan.NodeWorking, given, false
		return nil
	})
	f.ok(err)
	return all[0]
}

// deliver hands data over for a node.
func (f *fixture) deliver(task, agent, data string) plan.HandOver {
	f.Helper()
	n := f.node(task, agent)
	h, _, err := f.store.Deliver(f.ctx, plan.HandOver{Task: task, Agent: agent, Data: data, Round: n.Round}, n.Fence, delivered)
	f.ok(err)
	return h
}

func delivered(n *plan.Node) error { n.State = plan.NodeDelivered; return nil }

// events returns the texts of the events of a task, and checks that their numbers have no gap.
func (f *fixture) events(task string) []string {
	f.Helper()
	all, err := f.store.Events(f.ctx, task, 0, 10_000)
	f.ok(err)
	out := []string{}
	for i, e := range all {
		f.equal(e.Seq, int64(i+1))
		text := e.Kind + " " + e.Text
		if e.Node != "" {
			text = e.Node + ": " + text
		}
		out = append(out, text)
	}
	return out
}

func titles(all []plan.Task) []string {
	out := []string{}
	for _, t := range all {
		out = append(out, t.Title)
	}
	return out
}
