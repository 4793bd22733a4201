package page

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/plain"
)

// Waves prints tasks of plans.
func Waves(w io.Writer, list []wave.Sum) {
	if len(list) == 0 {
		fmt.Fprintln(w, `no tasks of plans yet; orchestrator wave run PLAN "title" begins one`)
		return
	}
	var t Columns
	t.Row("TASK", "STATUS", "PLAN", "AGENTS", "TOOK", "TITLE")
	for _, s := range list {
		t.Row(s.Task.Name, string(s.Task.Status), cmp.Or(s.Task.PlanName, "-"), fmt.Sprintf("%d/%d", s.Done, s.Agents), tookFor(s.Wall), plain.Cut(plain.Line(s.Task.Title), mostScope))
	}
	t.Print(w)
}

func tookFor(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return d.Round(time.Second / 10).String()
}

// Wave prints a task with its agents, and with what they handed over if data is set.
func Wave(w io.Writer, v wave.View, data bool) {
	fmt.Fprintf(w, "%s  %s  %s\n", v.Task.Name, v.Task.Status, plain.Line(v.Task.Title))
	if v.Task.Reason != "" {
		fmt.Fprintf(w, "%s\n", plain.Line(v.Task.Reason))
	}
	var t Columns
	t.Row("WAVE", "AGENT", "STATE", "EXECUTION", "TOOK", "")
	for _, n := range v.Nodes {
		t.Row(fmt.Sprint(n.Wave), n.Agent, nodeState(n), cmp.Or(n.Exec, "-"), tookFor(n.Took), plain.Cut(plain.Line(nodeSaid(n)), mostScope))
	}
	t.Print(w)
	if !data {
		return
	}
	for _, n := range v.Nodes {
		if n.Data != "" {
			fmt.Fprintf(w, "\n%s\n%s\n", n.Agent, strings.Join(plain.Lines(n.Data), "\n"))
		}
	}
}

// nodeState is a node's state as people read it.
func nodeState(n wave.NodeView) string {
	state := string(n.State)
	if n.Stale {
		state += ", stale"
	}
	return state
}

// nodeSaid is what there is to say of a node.
func nodeSaid(n wave.NodeView) string {
	switch {
	case n.State == plan.NodeAsking:
		return n.Question
	case n.Error != "":
		return n.Error
	case n.Wait != "":
		return "waits for " + n.Wait
	default:
		return n.Summary
	}
}

// WaveSteps prints what has changed since it was called last with the same said.
func WaveSteps(w io.Writer, v wave.View, said map[string]string) {
	for _, n := range v.Nodes {
		now := nodeState(n)
		if n.State == plan.NodeWaiting || said[n.Agent] == now {
			continue
		}
		said[n.Agent] = now
		line := fmt.Sprintf("wave %d  %s  %s", n.Wave, n.Agent, now)
		if text := nodeSaid(n); text != "" {
			line += ": " + plain.Line(text)
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// WaveEnd prints how a task has ended, or what it waits for.
func WaveEnd(w io.Writer, v wave.View) {
	line := fmt.Sprintf("%s is %s", v.Task.Name, v.Task.Status)
	if !v.Task.Status.Final() {
		line = fmt.Sprintf("%s waits for you: orchestrator wave answer %s %s --yes|--no", v.Task.Name, v.Task.Name, strings.Join(v.Open, "|"))
	}
	if v.Task.Reason != "" {
		line += ": " + plain.Line(v.Task.Reason)
	}
	fmt.Fprintln(w, line)
}
