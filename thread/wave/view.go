package wave

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// ViewOf returns a task as verbs and screens show it. Execs are its executions of all rounds, and those that their agents
// started; what is claimed of sub-agents is a part of what started them and counts once.
func ViewOf(t plan.Task, nodes []plan.Node, execs []work.Execution, now time.Time) View {
	written := t.Plan
	t.Plan = nil
	v := View{Task: t, Nodes: make([]NodeView, len(nodes)), Wall: span(t.Started, t.Ended, now)}
	newest, used, began := byAgent(t.Name, nodes, execs)
	at := make(map[string]int, len(nodes))
	for i, n := range nodes {
		at[n.Agent] = i
	}
	if written != nil { // what shall work, where nothing has yet
		for _, a := range written.Agents {
			if i, known := at[a.Name]; known {
				v.Nodes[i].Program, v.Nodes[i].Model = a.Agent, cmp.Or(a.Model, string(a.Tier))
			}
		}
	}
	for i, n := range nodes {
		if at, known := began[n.Agent]; known {
			v.Nodes[i].Took = span(at, n.Ended, now) // without the time for which it waited for a place
		}
		v.Nodes[i] = nodeView(n, v.Nodes[i], newest[n.Agent], used[n.Agent], now)
		v.Nodes[i].Wait = waitsFor(v.Nodes[i], nodes, at)
		if n.State == plan.NodeAsking {
			v.Open = append(v.Open, n.Agent)
		}
		if !n.Gate {
			v.Alone += v.Nodes[i].Took
		}
	}
	v.Usage = sumOf(execs)
	for _, i := range longest(v.Nodes, at) {
		v.Nodes[i].Critical = true
		if !v.Nodes[i].Gate {
			v.Critical += v.Nodes[i].Took
		}
	}
	return v
}

// span is the time from a beginning to an end, or to now.
func span(from, to, now time.Time) time.Duration {
	switch {
	case from.IsZero():
		return 0
	case to.IsZero() || to.Before(from):
		to = now
	}
	return max(to.Sub(from), 0)
}

// byAgent returns of each agent of a task its execution, the newest one where its node names none, what all of its rounds
// have used, and when its round began to work.
func byAgent(task string, nodes []plan.Node, execs []work.Execution) (newest map[string]*work.Execution, used map[string]thread.Usage, began map[string]time.Time) {
	newest, used, began = map[string]*work.Execution{}, map[string]thread.Usage{}, map[string]time.Time{}
	named, round := make(map[work.ID]bool, len(nodes)), make(map[string]int, len(nodes))
	for _, n := range nodes {
		named[n.Execution] = n.Execution != ""
		round[n.Agent] = n.Round
	}
	for i := range execs {
		x := &execs[i]
		if x.Part.Task != task || x.Part.Agent == "" || x.Kind == work.KindNative {
			continue
		}
		used[x.Part.Agent] = used[x.Part.Agent].Add(x.Usage)
		if x.Part.Round == 0 { // its agent has started it
			continue
		}
		if was := newest[x.Part.Agent]; was == nil || named[x.ID] || !named[was.ID] && later(x, was) {
			newest[x.Part.Agent] = x
		}
		if at, known := began[x.Part.Agent]; x.Part.Round == round[x.Part.Agent] && !x.Started.IsZero() && (!known || x.Started.Before(at)) {
			began[x.Part.Agent] = x.Started
		}
	}
	return newest, used, began
}

func later(a, b *work.Execution) bool {
	return cmp.Or(cmp.Compare(a.Part.Round, b.Part.Round), a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) > 0
}

// sumOf is what executions have used. That of a native one is a part of its parent's.
func sumOf(execs []work.Execution) (sum thread.Usage) {
	for _, x := range execs {
		if x.Kind != work.KindNative {
			sum = sum.Add(x.Usage)
		}
	}
	return sum
}

func nodeView(n plan.Node, v NodeView, x *work.Execution, used thread.Usage, now time.Time) NodeView {
	v.Node, v.Usage = n, used
	if v.Started.IsZero() && n.Gate {
		v.Started = n.Asked
	}
	if v.Took == 0 && !v.Started.IsZero() && (n.State.Final() || n.State == plan.NodeWorking || n.State == plan.NodeAsking) {
		v.Took = span(v.Started, n.Ended, now)
	}
	if x != nil {
		v.ExecState, v.Program, v.Model = string(x.State), x.Agent, cmp.Or(x.Model, v.Model)
		if x.State == work.Queued || x.Started.IsZero() {
			v.Took = 0 // it has no place yet
		}
	}
	if n.State == plan.NodeFailed || n.State == plan.NodeSkipped || n.State == plan.NodeCancelled {
		v.Error = n.Reason
	}
	return v
}

// waitsFor says in words what a node waits for, "" for nothing.
func waitsFor(n NodeView, nodes []plan.Node, at map[string]int) string {
	switch {
	case n.State == plan.NodeAsking:
		return "you"
	case n.State == plan.NodeWorking && n.ExecState == string(work.Queued):
		return "a place"
	case n.State == plan.NodeWorking && n.ExecState == string(work.NeedsInput):
		return "an answer in its thread"
	case n.State != plan.NodeWaiting:
		return ""
	}
	var open []string
	for _, name := range n.Upstreams() {
		if i, known := at[name]; known && !nodes[i].State.Final() {
			open = append(open, name)
		}
	}
	if len(open) == 0 {
		return cmp.Or(n.Reason, "a place")
	}
	return strings.Join(open, ", ")
}

// longest returns the places of the nodes on the longest chain, first to last: by the time that they took, where those that
// have not begun take as long as the others did on average.
func longest(nodes []NodeView, at map[string]int) []int {
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(stage(nodes[a].Node), stage(nodes[b].Node)) })
	guess := average(nodes)
	length, before, end := make([]time.Duration, len(nodes)), make([]int, len(nodes)), -1
	for _, i := range order {
		before[i] = -1
		for _, name := range nodes[i].Upstreams() {
			j, known := at[name]
			if known && stage(nodes[j].Node) < stage(nodes[i].Node) && (before[i] < 0 || length[j] > length[before[i]]) {
				before[i] = j
			}
		}
		if before[i] >= 0 {
			length[i] = length[before[i]]
		}
		length[i] += takes(nodes[i], guess)
		if end < 0 || length[i] > length[end] {
			end = i
		}
	}
	var chain []int
	for i := end; i >= 0; i = before[i] {
		chain = append(chain, i)
	}
	slices.Reverse(chain)
	return chain
}

// stage orders nodes so that each comes after what it waits for: agents by wave, a gate before those of its own.
func stage(n plan.Node) int {
	if n.Gate {
		return 2*n.Wave - 1
	}
	return 2 * n.Wave
}

// takes is how long a node takes on a chain; a gate takes the least, for how long a person thinks is no work.
func takes(n NodeView, guess time.Duration) time.Duration {
	switch {
	case n.Gate:
		return 1
	case n.State.Final():
		return n.Took + 1
	default:
		return max(n.Took, guess)
	}
}

// average is how long an agent took on average, or has been at it; 1 if none has ended.
func average(nodes []NodeView) time.Duration {
	var sum time.Duration
	n := 0
	for _, v := range nodes {
		if !v.Gate && v.State == plan.NodeDelivered {
			sum += v.Took
			n++
		}
	}
	if n == 0 {
		return 1
	}
	return max(sum/time.Duration(n), 1)
}
