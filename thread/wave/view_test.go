package wave_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

// sample is a task of which wave 1 is done, a gate asks, and the rest waits.
func sample() (plan.Task, []plan.Node, []work.Execution) {
	t := plan.Task{Name: "task-001", Title: "Market", Status: plan.InProgress, Started: at(0), Plan: &plan.Plan{Name: "p"}}
	n := func(name string, wave int, st plan.NodeState, from, to int, reads ...string) plan.Node {
		x := plan.Node{Task: t.Name, Agent: name, Wave: wave, State: st, Reads: reads}
		if from >= 0 {
			x.Started = at(from)
		}
		if to >= 0 {
			x.Ended = at(to)
		}
		return x
	}
	gate := n("ok", 1, plan.NodeAsking, -1, -1)
	gate.Gate, gate.After, gate.Question, gate.Asked, gate.Asks = true, []string{"a", "b"}, "go on?", at(9), plan.AsksGate
	c := n("c", 2, plan.NodeWaiting, -1, -1, "a", "b")
	c.After = []string{"ok"}
	nodes := []plan.Node{
		n("a", 1, plan.NodeDelivered, 0, 2), n("b", 1, plan.NodeWorking, 1, -1), gate, c, n("d", 3, plan.NodeWaiting, -1, -1, "c"),
	}
	for i := range nodes {
		nodes[i].Number = i
	}
	nodes[1].Execution = "x3"
	use := func(in int64, usd float64) thread.Usage { return thread.Usage{Input: in, CostUSD: usd, Priced: true} }
	part := func(agent string, round int) thread.Part {
		return thread.Part{Task: t.Name, Agent: agent, Round: round}
	}
	return t, nodes, []work.Execution{
		{ID: "x1", Part: part("a", 1), Usage: use(10, 1), State: work.Completed, Agent: "claude", Started: at(0)},
		{ID: "x2", Part: part("b", 1), Usage: use(20, 2), State: work.Failed, Started: at(0)},
		{ID: "x3", Part: part("b", 2), Usage: use(30, 3), State: work.Running, Agent: "codex", Model: "m", Started: at(1)},
		{ID: "n1", Kind: work.KindNative, Parent: "x3", Part: part("b", 2), Usage: use(25, 2.5)},
		{ID: "s1", Part: part("b", 0), Usage: use(5, 0.5), Agent: "spawned"},
	}
}

// TestViewOf: what is used counts once, sub-agents of a CLI with what started them; what waits says for whom; the longest
// chain goes through what takes longest.
func TestViewOf(t *testing.T) {
	task, nodes, execs := sample()
	v := wave.ViewOf(task, nodes, execs, at(10))
	if v.Task.Plan != nil || v.Wall != 10*time.Minute || v.Alone != 11*time.Minute || v.Critical != 9*time.Minute {
		t.Errorf("wall %v, one after the other %v, chain %v", v.Wall, v.Alone, v.Critical)
	}
	if v.Usage.Input != 65 || v.Usage.CostUSD != 6.5 {
		t.Errorf("used %+v", v.Usage)
	}
	if !slices.Equal(v.Open, []string{"ok"}) {
		t.Errorf("open %q", v.Open)
	}
	want := []string{
		`a claude 10 "" 2m0s false`, `b codex 55 "" 9m0s true`, `ok  0 "you" 1m0s true`, `c  0 "b, ok" 0s true`, `d  0 "c" 0s true`,
	}
	if task.Plan == nil {
		t.Error("the task that was given lost its plan")
	}
	for _, c := range []int{2, 3} { // a gate stands in the wave before which it is asked, or in one of its own
		nodes[2].Wave, nodes[3].Wave, nodes[4].Wave = 2, c, c+1
		var said []string
		for _, n := range wave.ViewOf(task, nodes, execs, at(10)).Nodes {
			said = append(said, fmt.Sprintf("%s %s %d %q %v %t", n.Agent, n.Program, n.Usage.Input, n.Wait, n.Took, n.Critical))
		}
		if !slices.Equal(said, want) {
			t.Errorf("c in %d: got\n%q, want\n%q", c, said, want)
		}
	}
}

func TestViewOfStates(t *testing.T) {
	task := plan.Task{Name: "task-001", Started: at(0), Ended: at(4)}
	part := thread.Part{Task: task.Name, Agent: "a", Round: 1}
	for name, c := range map[string]struct {
		node plan.Node
		exec work.Execution
		wait string
		took time.Duration
		err  string
	}{
		"queued":          {plan.Node{State: plan.NodeWorking, Started: at(0)}, work.Execution{State: work.Queued}, "a place", 0, ""},
		"asks in thread":  {plan.Node{State: plan.NodeWorking, Started: at(0)}, work.Execution{State: work.NeedsInput, Started: at(1)}, "an answer in its thread", 9 * time.Minute, ""},
		"failed":          {plan.Node{State: plan.NodeFailed, Started: at(1), Ended: at(3), Reason: "no JSON"}, work.Execution{State: work.Completed, Started: at(1)}, "", 2 * time.Minute, "no JSON"},
		"waits for place": {plan.Node{State: plan.NodeWaiting}, work.Execution{}, "a place", 0, ""},
		"the reason":      {plan.Node{State: plan.NodeWaiting, Reason: "2 of 2 are at work"}, work.Execution{}, "2 of 2 are at work", 0, ""},
	} {
		c.node.Agent, c.node.Round, c.exec.Part, c.exec.ID = "a", 1, part, "x"
		execs := []work.Execution{c.exec}
		if c.node.State == plan.NodeWaiting {
			execs = nil
		}
		v := wave.ViewOf(task, []plan.Node{c.node}, execs, at(10))
		if n := v.Nodes[0]; n.Wait != c.wait || n.Took != c.took || n.Error != c.err || v.Wall != 4*time.Minute {
			t.Errorf("%s: waits %q, took %v, error %q, wall %v", name, n.Wait, n.Took, n.Error, v.Wall)
		}
	}
}

func TestSumOf(t *testing.T) {
	task, nodes, execs := sample()
	nodes[0].Stale, nodes[1].Stalled = true, "silent"
	s := wave.SumOf(task, nodes, execs, at(10))
	if s.Agents != 4 || s.Done != 1 || s.States[plan.NodeWaiting] != 2 || s.States[plan.NodeAsking] != 0 || s.Stale != 1 || s.Stalls != 1 ||
		s.Usage.Input != 65 || s.Wall != 10*time.Minute {
		t.Errorf("%+v", s)
	}
	if len(s.Open) != 1 || s.Open[0].Name() != "task-001/ok" || s.Open[0].Text != "go on?" || !s.Open[0].Since.Equal(at(9)) || s.Open[0].Asks != "gate" {
		t.Errorf("open %+v", s.Open)
	}
}

// BenchmarkViewOf is a view of 10,000 nodes in 100 waves, each of which reads five.
func BenchmarkViewOf(b *testing.B) {
	var nodes []plan.Node
	for i := range 10_000 {
		n := plan.Node{Agent: fmt.Sprint("a", i), Number: i, Wave: i/100 + 1, State: plan.NodeWaiting}
		for k := range 5 {
			if i >= 100 {
				n.Reads = append(n.Reads, fmt.Sprint("a", (i/100-1)*100+(i*7+k)%100))
			}
		}
		nodes = append(nodes, n)
	}
	for b.Loop() {
		wave.ViewOf(plan.Task{}, nodes, nil, noon)
	}
}
