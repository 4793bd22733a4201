package waves

import (
	"slices"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// TestPartTools: agents of a plan hand over by a tool, read what their plan names and nothing else, and start as many runs as
// it lets them, which take part in nothing.
func TestPartTools(t *testing.T) {
	t.Parallel()
	r := newBare(t)
	const data = `{"z": 1.50, "a": "<&>", "n": 9007199254740993}`
	puts := demo(plan.Agent{Name: "puts", Prompt: `#do: call orch__deliverable_put {"summary": "s", "output_data": "` +
		strings.ReplaceAll(data, `"`, `\"`) + `"}`}, `"not this"`)
	peer := demo(plan.Agent{Name: "peer", Wave: 1}, `{"secret": 1}`)
	reads := demo(plan.Agent{Name: "reads", Reads: []string{"puts"},
		Prompt: `#do: call orch__deliverable_get {"agent": "puts"};; call orch__deliverable_get {"agent": "peer"};; call orch__status {}`}, `{"read": true}`)
	spawns := demo(plan.Agent{Name: "spawns", Spawn: 2, SpawnDepth: 1, Prompt: `#do: call orch__spawn {"prompt": "#json: {\"below\": 1}"};; ` +
		`call orch__spawn {"prompt": "#do: call orch__deliverable_get {\"agent\": \"peer\"}"};; call orch__spawn {"prompt": "too many"};; call orch__status {}`}, `{"spawned": 2}`)
	task := r.begin(plan.Plan{Name: "tools", Agents: []plan.Agent{puts, peer, reads, spawns}})
	v := r.ends(task, plan.Complete)

	h := r.handedOver(task, "puts")
	if len(h) != 1 || h[0].Data != data || nodeOf(t, v, "puts").Summary != "s" {
		t.Errorf("handed over %+v", h)
	}
	told := r.Ok("exec", "logs", nodeOf(t, v, "reads").Exec)
	for _, want := range []string{`"agent_name":"puts"`, "9007199254740993", `"task_id":"` + task + `"`} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not in what it was told: %s", want, told)
		}
	}
	if strings.Contains(told, "secret") {
		t.Errorf("it reads a peer: %s", told)
	}

	told = r.Ok("exec", "logs", nodeOf(t, v, "spawns").Exec)
	for _, want := range []string{`{"below": 1}`, "all 2 runs that your plan lets spawns start are started", `"runs_left":0`} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not in what it was told: %s", want, told)
		}
	}
	var below []work.Execution
	for _, x := range e2e.Get[[]work.Execution](r.Rig, "exec", "list", "--limit", "1000") {
		if x.By == nodeOf(t, v, "spawns").Thread {
			below = append(below, x)
		}
	}
	slices.Reverse(below)
	if len(below) != 2 {
		t.Fatalf("%d runs: %+v", len(below), below)
	}
	for i, x := range below {
		if want := []string{task + ".spawns.1.1", task + ".spawns.1.2"}[i]; x.Name != want || x.State != work.Completed || !x.ReadOnly || x.Group != task || x.Part != (thread.Part{Task: task, Agent: "spawns"}) || x.Within != nodeOf(t, v, "spawns").Execution {
			t.Errorf("%s: %+v", want, x)
		}
	}
	own := e2e.Get[work.Execution](r.Rig, "exec", "show", nodeOf(t, v, "spawns").Exec)
	if sum := nodeOf(t, v, "spawns").Usage; sum.Input != own.Usage.Input+below[0].Usage.Input+below[1].Usage.Input {
		t.Errorf("what it started is not in what it has used: %+v, itself %+v", sum, own.Usage)
	}
	if said := r.Ok("exec", "logs", below[1].Name); strings.Contains(said, "secret") {
		t.Errorf("what it started reads what is handed over: %s", said)
	}
}

// TestSpawnedEndWithParent: who cancels an agent ends what it has started.
func TestSpawnedEndWithParent(t *testing.T) {
	t.Parallel()
	r := newBare(t)
	spawns := demo(plan.Agent{Name: "spawns", Spawn: 1, Prompt: `#do: call orch__spawn {"prompt": "#slow:600s"}`}, `{"spawned": 1}`)
	task := r.begin(plan.Plan{Name: "ends", Agents: []plan.Agent{spawns}})
	name := task + ".spawns.1.1"
	is := func(want ...work.State) {
		t.Helper()
		e2e.Await(t, name+" to be "+string(want[0]), func() bool {
			res := r.Run("exec", "show", name, "--json")
			return res.Code == 0 && slices.ContainsFunc(want, func(s work.State) bool { return strings.Contains(res.Stdout, `"state": "`+string(s)+`"`) })
		})
	}
	is(work.Running)
	r.Run("wave", "cancel", task)
	is(work.Cancelled)
}
