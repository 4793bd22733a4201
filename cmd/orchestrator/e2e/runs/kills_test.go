package runs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

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
		r.T.Errorf("what it used was not counted: %+v, the thread's %+v", x.Usage, s.Usage)
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

// TestKilledWithEight kills the server at any moment while eight runs work, round after round: the next one leaves no
// process without a row and no row without an end, does what the policies say, and counts once what was paid for.
func TestKilledWithEight(t *testing.T) {
	t.Parallel()
	rounds := e2e.FromEnv(t, "RUN_KILL_ROUNDS", 2)
	seed := uint64(e2e.FromEnv(t, "RUN_KILL_SEED", int(time.Now().UnixNano()%1e9)))
	t.Logf("RUN_KILL_SEED=%d kills at the same moments again", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	r := e2e.NewRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=8")
	policies := []work.Policy{work.PolicyAsk, work.PolicyRetry, work.PolicyResume, work.PolicyFail}
	for round := range rounds {
		for n := range 8 {
			runIt(r, fmt.Sprintf("write r%dn%d.txt: it is %d", round, n, n), "--lost", string(policies[n%4]), "--no-worktree")
		}
		time.Sleep(time.Duration(chance.IntN(1500)) * time.Millisecond)
		for _, pid := range r.Servers() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have just ended
		}
		e2e.Await(t, "the server to be gone", func() bool { return len(r.Servers()) == 0 })
		settled(r, 8*(round+1))
	}
}

// settled waits until all executions have ended, and checks what is left.
func settled(r *e2e.Rig, want int) {
	r.T.Helper()
	var all []work.Execution
	e2e.Await(r.T, "all runs to be settled", func() bool {
		all = e2e.Get[[]work.Execution](r, "exec", "list", "--limit", "1000", "--json")
		return !slices.ContainsFunc(all, func(x work.Execution) bool { return !x.State.Final() })
	})
	nothingLeft(r)
	if len(all) != want {
		r.T.Errorf("%d executions, want %d", len(all), want)
	}
	threads := map[thread.ID]thread.Status{}
	for _, s := range e2e.Get[[]thread.Status](r, "threads", "--json") {
		threads[s.ID] = s
	}
	for _, x := range all {
		s := threads[x.Thread]
		switch {
		case s.Execution != nil || s.Interrupted:
			r.T.Errorf("%s: its thread has %+v, interrupted %v", x.Name, s.Execution, s.Interrupted)
		case x.Usage.Output > s.Usage.Output:
			r.T.Errorf("%s counted %d tokens, its thread %d", x.Name, x.Usage.Output, s.Usage.Output)
		case x.State == work.Completed && x.Usage.Output == 0:
			r.T.Errorf("%s completed for nothing", x.Name)
		case x.State == work.Lost && x.Lost == work.PolicyRetry && x.Attempt < 2 && s.Turn == 0:
			r.T.Errorf("%s is lost, though its policy is %s: %s", x.Name, x.Lost, x.Reason)
		case s.Queued > 0:
			r.T.Errorf("%s: %d prompts are left queued", x.Name, s.Queued)
		}
	}
}

// TestKilledTwice kills the server that finds out what became of a run, between its writes too: the third one ends it all
// the same, once.
func TestKilledTwice(t *testing.T) {
	for _, at := range []string{"thread.exec.again", "thread.exec.recovered"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			r := e2e.NewRig(t)
			becomes(r, runIt(r, "count to 2000", "--lost", "retry"), work.Running)
			time.Sleep(time.Second) // it has its prompt
			for _, pid := range r.Servers() {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have just ended
			}
			e2e.Await(t, "the server to be gone", func() bool { return len(r.Servers()) == 0 })
			healthy := r.Env
			r.Env = append(append([]string(nil), healthy...), "ORCHESTRATOR_FAILPOINT="+at)
			r.Run("threads")
			r.Env = healthy
			e2e.Await(t, "the server to be killed at "+at, func() bool { return len(r.Servers()) == 0 })
			settled(r, 1)
			if x := list(r)[0]; x.State != work.Completed || x.Attempt != 2 {
				t.Errorf("%s in attempt %d: %s", x.State, x.Attempt, x.Reason)
			}
		})
	}
}
