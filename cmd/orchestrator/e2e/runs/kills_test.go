package runs

import (
	"fmt"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
	"orchestrator/thread/work"
)

// gaps are the places between the writes of a run, in their order.
func gaps() []string {
	return []string{
		"thread.exec.added", "thread.exec.accepted", "thread.exec.claimed", "thread.start.begun", "thread.start.started",
		"thread.ask.typing", "thread.ask.typed", "thread.exec.running", "thread.exec.ended",
	}
}

// TestKilledInEachGap kills the server between the writes of a run. The next one leaves no process without a row and no
// row that runs without a process, does what the policy says, and counts what it cost once.
func TestKilledInEachGap(t *testing.T) {
	rounds := e2e.FromEnv(t, "FAILPOINT_ROUNDS", 1)
	for _, at := range sample.Of(t, 5, gaps()) {
		for _, policy := range []work.Policy{work.PolicyAsk, work.PolicyRetry} {
			t.Run(at+"/"+string(policy), func(t *testing.T) {
				t.Parallel()
				for range rounds {
					killedIn(e2e.NewRig(t), at, policy)
				}
			})
		}
	}
}

func killedIn(r *e2e.Rig, at string, policy work.Policy) {
	r.T.Helper()
	r.Ok("threads") // a server starts before it may be killed
	r.Ok("stop")
	healthy := r.Env
	r.Env = append(append([]string(nil), healthy...), "ORCHESTRATOR_FAILPOINT="+at)
	res := r.Run("run", "--once", "-d", "-a", "demo", "--permission-mode", "auto", "--lost", string(policy), "write one.txt: first")
	r.Env = healthy
	accepted := res.Code == 0
	e2e.Await(r.T, "the server to be killed at "+at, func() bool { return len(r.Servers()) == 0 })
	var all []work.Execution
	e2e.Await(r.T, "the next server to have settled it", func() bool {
		all = list(r)
		for _, x := range all {
			if !x.State.Final() {
				return false
			}
		}
		return true
	})
	nothingLeft(r)
	want := work.Completed
	switch {
	case len(all) != 1:
		r.T.Fatalf("%d executions: %+v", len(all), all)
	case at == "thread.exec.added":
		want = work.Failed // its prompt was never stored
		if accepted {
			r.T.Error("it was accepted without its prompt")
		}
	case at == "thread.exec.accepted": // it waited
	case at == "thread.exec.ended":
	case policy == work.PolicyAsk:
		want = work.Lost
	}
	x := all[0]
	if x.State != want && !(want == work.Lost && x.State == work.Completed && answered(r, x)) {
		r.T.Errorf("%s (%s), want %s", x.State, x.Reason, want)
	}
	s := r.Status(nameOf(r, x))
	if s.Execution != nil {
		r.T.Errorf("a process has an open row: %+v", s.Execution)
	}
	if x.Usage.Output > s.Usage.Output {
		r.T.Errorf("the execution counted %d tokens, its thread %d", x.Usage.Output, s.Usage.Output)
	}
	if x.State == work.Completed && x.Usage.Output == 0 {
		r.T.Error(fmt.Sprintf("what it used was not counted: %+v, the thread's %+v", x.Usage, s.Usage))
	}
}

// answered reports whether a run had its answer before the server was killed: it is quick.
func answered(r *e2e.Rig, x work.Execution) bool {
	r.T.Helper()
	for _, p := range e2e.Get[[]thread.Prompt](r, "prompts", nameOf(r, x), "--json") {
		if p.ID == x.Prompt {
			return p.State == thread.PromptAnswered
		}
	}
	return false
}
