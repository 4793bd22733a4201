package waves

import (
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
)

// TestStalls: an agent that is silent and one that repeats itself are shown, and what their plan says follows: it is stopped,
// begins again once, or a person is asked. One that works on is left alone.
func TestStalls(t *testing.T) {
	t.Parallel()
	r := newBare(t)
	silence, repeats := plan.Duration(time.Second), 3
	of := func(policy plan.StallPolicy) plan.Stall {
		return plan.Stall{Silence: &silence, Repeats: &repeats, Policy: policy}
	}

	sleeper := r.program(plan.Agent{Name: "sleeper", OnUpstreamFailure: plan.FailStop}, `{"a": 1}`)
	r.slow("sleeper", time.Hour)
	stopped := r.begin(plan.Plan{Name: "stops", Stall: of(plan.StallStop), Agents: []plan.Agent{sleeper}})
	n := r.is(stopped, "sleeper", plan.NodeFailed)
	if !strings.HasPrefix(n.Reason, "stuck: nothing was heard of it for") || r.began("sleeper") != 1 {
		t.Errorf("%s, begun %d times", n.Reason, r.began("sleeper"))
	}

	r.forget()
	again := r.begin(plan.Plan{Name: "again", Stall: of(plan.StallRetry), Agents: []plan.Agent{sleeper}})
	n = r.is(again, "sleeper", plan.NodeFailed)
	if n.Round != 2 || n.Retried != 1 || r.began("sleeper") != 2 {
		t.Errorf("round %d, retried %d, begun %d times: %s", n.Round, n.Retried, r.began("sleeper"), n.Reason)
	}

	shown := r.begin(plan.Plan{Name: "shows", Stall: of(plan.StallShow), Agents: []plan.Agent{
		demo(plan.Agent{Name: "parrot", Spawn: 3, Prompt: "#do:" + strings.Repeat(`call orch__spawn {"prompt": "#slow:7s"};;`, 3)}, `{"a": 1}`),
	}})
	is := r.stalls(shown, "parrot")
	if !strings.Contains(is, "orch__spawn 3 times in a row") {
		t.Errorf("stalled: %s", is)
	}
	if v := r.ends(shown, plan.Complete); nodeOf(t, v, "parrot").Stalled != "" {
		t.Errorf("it is done, and %s", nodeOf(t, v, "parrot").Stalled)
	}
}

// stalls waits until a node is taken to be stuck, and returns why.
func (r *rig) stalls(task, node string) (why string) {
	r.T.Helper()
	e2e.Await(r.T, node+" to be taken to be stuck", func() bool {
		why = nodeOf(r.T, e2e.Get[wave.View](r.Rig, "wave", "status", task), node).Stalled
		return why != ""
	})
	return why
}
