package agents

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// TestRealWaves has the real CLIs, mixed in one plan, do the work of the seven agents without a terminal: the second wave
// begins once all of the first have handed over, each of it reads all three of those byte for byte, as the model's server
// heard it, and each is asked once.
func TestRealWaves(t *testing.T) {
	all := clis.All()
	r := newScripted(t, all[0], func(turn model.Turn) scripted.Reply {
		if s, ok := seedOf(turn); ok {
			return scripted.Reply{Text: "Here is what I found.\n\n```json\n" + s.Data + "\n```\n"}
		}
		return model.Markers(turn)
	})
	for _, cli := range all[1:] {
		r.setUp(cli)
	}
	at := 0
	p := e2e.SeedPlan(func(s e2e.SeedAgent, a plan.Agent) plan.Agent {
		cli := all[at%len(all)]
		at++
		a.Agent, a.Model = cli.Name, cli.Model
		a.Prompt = "Task: {{task.title}}\n\nYou do the " + s.Work + "."
		return a
	})
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "marketing.json") // a plan of the project would have to be trusted first
	e2e.Put(t, file, string(b))
	task := strings.TrimSpace(r.Ok("wave", "run", "--detach", file, e2e.SeedTitle))
	var v wave.View
	for v.Task.Status != plan.Complete {
		e2e.Await(t, "the task to go on", func() bool {
			before := v
			v = r.Task(task)
			return v.Task.Status.Final() || !slices.EqualFunc(before.Nodes, v.Nodes, func(a, b wave.NodeView) bool { return a.State == b.State })
		})
		if v.Task.Status.Final() && v.Task.Status != plan.Complete {
			for _, n := range v.Nodes {
				t.Logf("%s: %s %s %s", n.Agent, n.State, n.Reason, n.Error)
			}
			t.Fatalf("it is %s: %s", v.Task.Status, v.Task.Reason)
		}
	}
	heard := map[string]int{}
	firsts := 0
	for _, q := range r.model.Main() {
		s, ok := seedOf(q.Turn)
		if !ok {
			continue
		}
		heard[s.Name]++
		if s.Wave == 1 {
			firsts++
			continue
		}
		if firsts != 3 {
			t.Errorf("%s was asked after %d of the first wave", s.Name, firsts)
		}
		e2e.SeedHandsOn(t, s.Name, strings.Join(q.Turn.Prompts(), "\n"))
	}
	for _, s := range e2e.SeedAgents() {
		i := slices.IndexFunc(v.Nodes, func(n wave.NodeView) bool { return n.Agent == s.Name })
		if n := v.Nodes[i]; heard[s.Name] != 1 || n.Data != s.Data || n.Version != 1 {
			t.Errorf("%s was asked %d times and handed over version %d:\n%s", s.Name, heard[s.Name], n.Version, n.Data)
		}
	}
	for _, x := range e2e.Get[[]work.Execution](r.Rig, "exec", "list") {
		if x.State != work.Completed || x.Attempt != 1 {
			t.Errorf("%s (%s): %s, attempt %d: %s", x.Name, x.Part.Agent, x.State, x.Attempt, x.Reason)
		}
	}
}

// seedOf finds the agent that a turn is for, by what the plan tells it.
func seedOf(turn model.Turn) (e2e.SeedAgent, bool) {
	if turn.Side {
		return e2e.SeedAgent{}, false
	}
	all := e2e.SeedAgents()
	i := slices.IndexFunc(all, func(s e2e.SeedAgent) bool { return strings.Contains(turn.Prompt, "You do the "+s.Work+".") })
	if i < 0 {
		return e2e.SeedAgent{}, false
	}
	return all[i], true
}
