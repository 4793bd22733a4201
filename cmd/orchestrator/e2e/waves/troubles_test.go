package waves

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// chain is a plan of programs each of which reads the one before.
func (r *rig) chain(name string, agents ...string) plan.Plan {
	r.T.Helper()
	p := plan.Plan{Name: name}
	for i, agent := range agents {
		a := plan.Agent{Name: agent}
		if i > 0 {
			a.Reads = []string{agents[i-1]}
		}
		p.Agents = append(p.Agents, r.program(a, fmt.Sprintf(`{"of": %q, "number": 1.50}`, agent)))
	}
	return p
}

// TestCancelledAtHandOver cancels a task at the moment at which one agent hands over to the next. Either it is cancelled, and
// nothing of it goes on, or it had ended.
func TestCancelledAtHandOver(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	seed := uint64(e2e.FromEnv(t, "WAVE_CANCEL_SEED", int(time.Now().UnixNano()%1e9)))
	t.Logf("WAVE_CANCEL_SEED=%d cancels at the same moments again", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	cancelled := 0
	for round := range e2e.FromEnv(t, "WAVE_CANCEL_ROUNDS", 8) {
		first, second := fmt.Sprintf("a%d", round), fmt.Sprintf("b%d", round)
		p := r.chain("chain", first, second)
		r.slow(first, 300*time.Millisecond)
		r.slow(second, 200*time.Millisecond)
		task := r.begin(p)
		e2e.Await(t, "the first to begin", func() bool { return r.began(first) > 0 })
		time.Sleep(time.Duration(150+chance.IntN(400)) * time.Millisecond) // the point is that it comes at any moment
		res := r.Run("wave", "cancel", task)
		v := r.ends(task, plan.Cancelled, plan.Complete)
		if (res.Code == 0) != (v.Task.Status == plan.Cancelled) {
			t.Errorf("%s is %s, cancel: exit %d: %s", task, v.Task.Status, res.Code, res.Stderr)
		}
		if v.Task.Status == plan.Cancelled {
			cancelled++
		}
		e2e.Await(t, "its processes to end", func() bool { return len(r.left()) == 0 })
		notes := r.notes()
		for i, n := range r.Task(task).Nodes {
			if !n.State.Final() {
				t.Errorf("%s of %s is %s", n.Agent, task, n.State)
			}
			all := r.handedOver(task, n.Agent)
			if (n.State == plan.NodeDelivered) != (len(all) == 1) {
				t.Errorf("%s of %s is %s and handed over %d times", n.Agent, task, n.State, len(all))
			}
			if began := r.began(n.Agent); began > 1 || i == 0 && began != 1 {
				t.Errorf("%s was started %d times", n.Agent, began)
			}
		}
		e2e.Await(t, "its runs to end", func() bool {
			return !slices.ContainsFunc(r.executions(task), func(x work.Execution) bool { return !x.State.Final() })
		})
		if after := r.notes(); !slices.Equal(notes, after) {
			t.Errorf("went on after its end: %v", after[len(notes):])
		}
	}
	t.Logf("%d were cancelled", cancelled)
}

// TestGateAnsweredTwice answers a gate twice at once, with a yes and a no: one answer holds, the other is refused and says
// so, and what follows is what the first one says.
func TestGateAnsweredTwice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for round := range e2e.FromEnv(t, "WAVE_GATE_ROUNDS", 4) {
		first, second := fmt.Sprintf("a%d", round), fmt.Sprintf("b%d", round)
		p := r.chain("gated", first, second)
		p.Gates = []plan.Gate{{Name: "look", After: 1, Text: "Is it right?"}}
		task := r.begin(p)
		asked := r.is(task, "look", plan.NodeAsking)
		if asked.Question != "Is it right?" || r.began(second) != 0 {
			t.Errorf("%+v; %s began %d times", asked.Node, second, r.began(second))
		}
		type answer struct {
			yes bool
			e2e.Result
		}
		done := make(chan answer, 2)
		for _, flag := range []string{"--yes", "--no"} {
			go func() { done <- answer{flag == "--yes", r.Run("wave", "answer", task, "look", flag)} }()
		}
		one, two := <-done, <-done
		if one.Code != 0 {
			one, two = two, one
		}
		if one.Code != 0 || two.Code == 0 || two.Stderr == "" {
			t.Fatalf("%+v\n%+v", one, two)
		}
		if one.yes {
			r.ends(task, plan.Complete)
			if r.began(second) != 1 {
				t.Errorf("%s began %d times", second, r.began(second))
			}
			continue
		}
		v := r.ends(task, plan.Failed, plan.Cancelled)
		if nodeOf(t, v, "look").State != plan.NodeFailed || r.began(second) != 0 {
			t.Errorf("after a no: %s; %s began %d times", r.said(v), second, r.began(second))
		}
	}
}

// TestPlanEditedWhileItRuns: a task goes on with the plan that it began with, though its file is changed and removed, the
// server killed and started again.
func TestPlanEditedWhileItRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_LOST=retry")
	p := r.chain("edited", "a", "b", "c")
	r.slow("a", 2*time.Second)
	task := r.begin(p)
	e2e.Await(t, "the first to begin", func() bool { return r.began("a") > 0 })
	other := p
	other.Agents = []plan.Agent{p.Agents[0], r.program(plan.Agent{Name: "other", Reads: []string{"a"}}, `{"other": 1}`)}
	r.file(other)
	r.is(task, "a", plan.NodeDelivered)
	if err := os.Remove(filepath.Join(r.out, "edited.json")); err != nil {
		t.Fatal(err)
	}
	r.kill()
	v := r.ends(task, plan.Complete)
	if len(v.Nodes) != 3 || r.began("other") != 0 || r.began("c") == 0 {
		t.Errorf("%s; other began %d times", r.said(v), r.began("other"))
	}
}

// TestRetryOfUpstream begins an agent again whose consumer is done: the same output changes nothing, another one is a new
// version, of which the consumer is told to be stale, and which it gets once a person has all that follow begin again.
func TestRetryOfUpstream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	task := r.begin(r.chain("again", "a", "b"))
	r.ends(task, plan.Complete)
	again := func(round int, args ...string) wave.View {
		t.Helper()
		r.Ok(append([]string{"wave", "retry", task, "--yes"}, args...)...)
		var v wave.View
		e2e.Await(t, fmt.Sprint("round ", round), func() bool {
			v = r.Task(task)
			return v.Task.Status == plan.Complete && nodeOf(t, v, "a").Round == round
		})
		return v
	}
	v := again(2, "--agent", "a")
	if a, b := nodeOf(t, v, "a"), nodeOf(t, v, "b"); a.Version != 1 || b.Stale || b.Round != 1 {
		t.Errorf("the same again: %s", r.said(v))
	}
	r.put("a.answer.3", `{"of": "a", "number": 2}`)
	v = again(3, "--agent", "a")
	if a, b := nodeOf(t, v, "a"), nodeOf(t, v, "b"); a.Version != 2 || !b.Stale || b.Round != 1 || r.began("b") != 1 {
		t.Errorf("another output: a has version %d, b is stale: %v, began %d times", a.Version, b.Stale, r.began("b"))
	}
	r.put("a.answer.4", `{"of": "a", "number": 3}`)
	v = again(4, "--from", "a")
	if a, b := nodeOf(t, v, "a"), nodeOf(t, v, "b"); a.Version != 3 || b.Stale || b.Round != 2 || r.began("b") != 2 {
		t.Errorf("from a on: a has version %d; b is stale: %v, round %d, began %d times", a.Version, b.Stale, b.Round, r.began("b"))
	}
	if got := r.prompt("b", 2); !strings.Contains(got, `"number": 3`) || strings.Contains(got, "1.50") {
		t.Errorf("b read\n%s", got)
	}
}

// TestRepaired: an agent whose answer is no JSON is asked once to mend it; one that answers none again has failed, and
// nothing is made up for it.
func TestRepaired(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.chain("repaired", "a", "b")
	r.put("a.answer.1", "I have looked at it all, and it is fine.")
	v := r.ends(r.begin(p), plan.Complete)
	if a := nodeOf(t, v, "a"); !a.Repaired || a.Version != 1 || r.began("a") != 2 || r.began("b") != 1 {
		t.Errorf("repaired: %s; began %d times", r.said(v), r.began("a"))
	}
	p = r.chain("bad", "c", "d")
	r.put("c.answer", "I have looked at it all, and it is fine.")
	p.OnUpstreamFailure = plan.FailStop
	task := r.begin(p)
	v = r.ends(task, plan.Failed)
	if c, d := nodeOf(t, v, "c"), nodeOf(t, v, "d"); c.State != plan.NodeFailed || r.began("c") != 2 || d.State != plan.NodeSkipped || r.began("d") != 0 {
		t.Errorf("never repaired: %s; began %d times", r.said(v), r.began("c"))
	}
	if all := r.handedOver(task, "c"); len(all) > 0 {
		t.Errorf("it handed over %+v", all)
	}
	// The demo agent mends it in the same conversation.
	q := plan.Plan{Name: "demo", Agents: []plan.Agent{{Name: "e", Agent: "demo", Prompt: "say: all is fine\n#repaired: {\"fine\": true}"}}}
	task = r.begin(q)
	v = r.ends(task, plan.Complete)
	if all := r.handedOver(task, "e"); len(all) != 1 || all[0].Data != `{"fine": true}` || !nodeOf(t, v, "e").Repaired {
		t.Errorf("%s: %+v", r.said(v), all)
	}
	if all := r.executions(task); len(all) != 2 || all[0].Thread != all[1].Thread {
		t.Errorf("%d executions", len(all))
	}
}

// TestFailedUpstream: what becomes of the consumers of an agent that fails, by policy.
func TestFailedUpstream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, policy := range []plan.OnUpstreamFailure{plan.FailStop, plan.FailContinue, plan.FailAsk} {
		name := func(n string) string { return string(policy) + "-" + n }
		p := r.chain("fails", name("a"), name("b"), name("c"))
		p.OnUpstreamFailure = policy
		r.put(name("a")+".fails", "9")
		task := r.begin(p)
		switch policy {
		case plan.FailStop:
			v := r.ends(task, plan.Failed)
			if b, c := nodeOf(t, v, name("b")), nodeOf(t, v, name("c")); b.State != plan.NodeSkipped || c.State != plan.NodeSkipped || r.began(name("b")) > 0 {
				t.Errorf("stop: %s", r.said(v))
			}
		case plan.FailContinue:
			v := r.ends(task, plan.Failed, plan.Complete)
			if b, c := nodeOf(t, v, name("b")), nodeOf(t, v, name("c")); b.State != plan.NodeDelivered || c.State != plan.NodeDelivered {
				t.Errorf("continue: %s", r.said(v))
			}
			if got := r.prompt(name("b"), 1); !strings.Contains(got, name("a")) {
				t.Errorf("b is not told that a is missing:\n%s", got)
			}
		case plan.FailAsk:
			n := r.is(task, name("b"), plan.NodeAsking)
			if n.Asks != plan.AsksUpstream || r.began(name("b")) > 0 {
				t.Errorf("ask: %+v", n.Node)
			}
			if res := r.Run("wave", "status", task); res.Code != exitcode.Refused {
				t.Errorf("a question is open: exit %d: %s", res.Code, res.Stdout)
			}
			r.Ok("wave", "answer", task, name("b"), "--no")
			r.is(task, name("c"), plan.NodeAsking) // what b would have handed over is missing, too
			r.Ok("wave", "answer", task, name("c"), "--no")
			v := r.ends(task, plan.Failed)
			if r.began(name("b")) > 0 {
				t.Errorf("after a no: %s", r.said(v))
			}
		}
	}
}
