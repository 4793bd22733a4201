package troubles

import (
	"os"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/model"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
	"orchestrator/thread/work"
)

// asking is a rig whose runs ask a provider that fails as it is told, once an attempt.
type asking struct {
	*e2e.Rig
	provider *e2e.Provider
	program  string
}

func newAsking(t *testing.T) *asking {
	m := model.New(nil)
	t.Cleanup(m.Close)
	r := &asking{Rig: e2e.NewRig(t), provider: e2e.NewProvider(t, m)}
	var err error
	if r.program, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	r.Env = append(r.Env, askVariable+"=once", "ANTHROPIC_BASE_URL="+r.provider.URL())
	return r
}

// run submits a run that asks once, and returns its name.
func (r *asking) run(flags ...string) string {
	r.T.Helper()
	args := append([]string{"run", "--once", "-d", "-a", "command", "--no-worktree"}, flags...)
	return strings.TrimSpace(r.Ok(append(args, "please #say:ok", "--", r.program)...))
}

func (r *asking) show(name string) work.Execution {
	r.T.Helper()
	return e2e.Get[work.Execution](r.Rig, "exec", "show", name, "--json")
}

// becomes waits until an execution is in a state.
func (r *asking) becomes(name string, want work.State) (x work.Execution) {
	r.T.Helper()
	for end := time.Now().Add(2 * e2e.Patience); ; time.Sleep(50 * time.Millisecond) { // retries wait some seconds
		switch x = r.show(name); {
		case x.State == want:
			return x
		case x.State.Final(), time.Now().After(end):
			r.T.Fatalf("%s is %s (%s), want %s: %+v", name, x.State, x.Reason, want, x.Failure)
		}
	}
}

// faulty are the ways in which a provider fails, with what an execution's failure is, and whether it is tried again.
var faulty = []struct {
	fault  string
	class  work.Class
	code   work.Code
	passes bool
}{
	{"400", work.ClassAgent, work.CodeAgent, false}, {"401", work.ClassTransport, work.CodeIntegration, false},
	{"403", work.ClassTransport, work.CodeIntegration, false}, {"404", work.ClassAgent, work.CodeAgent, false},
	{"408", work.ClassTransport, work.CodeIntegration, true}, {"413", work.ClassAgent, work.CodeOverflow, false},
	{"429", work.ClassTransport, work.CodeIntegration, true}, {"500", work.ClassTransport, work.CodeIntegration, true},
	{"502", work.ClassTransport, work.CodeIntegration, true}, {"503", work.ClassTransport, work.CodeIntegration, true},
	{"529", work.ClassTransport, work.CodeIntegration, true}, {"cut", work.ClassTransport, work.CodeIntegration, true},
	{"page", work.ClassTransport, work.CodeIntegration, true}, {"inside", work.ClassTransport, work.CodeIntegration, true},
}

// TestRunsAreTriedAgain: what passes is tried again, until it has passed or the last attempt; what does not is asked of the
// provider once. The figures are requests at the provider, of a program that tries nothing again.
func TestRunsAreTriedAgain(t *testing.T) {
	e2e.ManyStarts(t)
	for _, c := range sample.Of(t, 4, faulty) {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			r := newAsking(t)
			r.Env = append(r.Env, "ORCHESTRATOR_RUNS_RETRIES=2")
			r.provider.Fails(c.fault)
			x := r.becomes(r.run(), work.Failed)
			want := map[bool]int{true: 2, false: 1}[c.passes]
			if got := r.provider.Asked(); got != want || x.Attempt != want || x.Retries != want-1 {
				t.Errorf("%d requests in %d attempts, want %d", got, x.Attempt, want)
			}
			if f := x.Failure; f.Class != c.class || f.Code != c.code || f.What == "" || f.Do == "" {
				t.Errorf("its failure: %+v", f)
			}
			t.Logf("%s for good: %d requests, %q", c.fault, r.provider.Asked(), x.Reason)
			if !c.passes {
				return
			}
			r.provider.FailsFirst(c.fault, 1)
			x = r.becomes(r.run(), work.Completed)
			if got := r.provider.Asked(); got != 2 || x.Attempt != 2 || x.Retries != 1 || x.Failure.Class != "" {
				t.Errorf("%d requests in %d attempts: %+v", got, x.Attempt, x.Failure)
			}
			if log := r.Ok("exec", "logs", x.Name); !strings.Contains(log, "attempt 2 of 2") {
				t.Errorf("its record:\n%s", log)
			}
		})
	}
}

// TestRunsKilledBetween kills the server in each gap between a failed attempt and the next one: the provider is asked no
// more often than was decided, and the count of attempts holds.
func TestRunsKilledBetween(t *testing.T) {
	e2e.ManyStarts(t)
	for _, at := range []string{"thread.exec.again", "thread.exec.ended"} {
		for _, lost := range []work.Policy{work.PolicyAsk, work.PolicyRetry} {
			t.Run(at+"/"+string(lost), func(t *testing.T) {
				t.Parallel()
				r := newAsking(t)
				r.Ok("threads") // a server starts before it may be killed
				r.Ok("stop")
				r.provider.FailsFirst("529", 1)
				healthy := r.Env
				r.Env = append(append([]string(nil), healthy...), "ORCHESTRATOR_FAILPOINT="+at)
				name := r.run("--lost", string(lost))
				r.Env = healthy
				e2e.Await(t, "the server to be killed at "+at, func() bool { return len(r.Servers()) == 0 })
				want, requests := work.Completed, 2
				if at == "thread.exec.again" && lost == work.PolicyAsk {
					want, requests = work.Lost, 1 // what it failed by is not stored yet
				}
				x := r.becomes(name, want)
				if got := r.provider.Asked(); got != requests || x.Attempt != requests {
					t.Errorf("%d requests in %d attempts, want %d: %s", got, x.Attempt, requests, x.Reason)
				}
			})
		}
	}
}

// TestRunsWaitForLimits: a run whose provider is at a limit waits for its end if the policy says so, also over a restart; else
// it asks. Signing in is asked for at once.
func TestRunsWaitForLimits(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := newAsking(t)
	r.provider.Fails("429 until")
	asks := r.becomes(r.run("--on-fail", "ask"), work.Failed)
	if asks.Attempt != 1 || asks.Failure.Until.IsZero() {
		t.Errorf("%+v", asks)
	}
	waits := r.run()
	var x work.Execution
	e2e.Await(t, "it to wait", func() bool { x = r.show(waits); return x.State == work.Queued && x.Attempt == 1 })
	if left := time.Until(x.After); left < 9*time.Minute || left > 11*time.Minute || !strings.HasPrefix(x.Reason, "goes on at ") {
		t.Errorf("it waits %v: %s", left, x.Reason)
	}
	r.Ok("stop")
	again := r.show(waits)
	if !again.After.Equal(x.After) || again.State != work.Queued || again.Retries != 1 || again.Reason != x.Reason {
		t.Errorf("after a restart: %+v", again)
	}
	if list := r.Ok("queue", "list"); !strings.Contains(list, "goes on at ") {
		t.Errorf("the queue:\n%s", list)
	}
	if n := r.provider.Asked(); n != 2 {
		t.Errorf("%d requests", n)
	}
	r.provider.Fails("401")
	login := r.becomes(r.run("--on-fail", "retry"), work.Failed)
	inbox := e2e.Get[[]thread.InboxItem](r.Rig, "inbox", "--json")
	var kinds []string
	for _, i := range inbox {
		kinds = append(kinds, string(i.Kind)+" "+i.Text)
	}
	if all := strings.Join(kinds, "\n"); !strings.Contains(all, "sign-in sign in: the provider refuses the login (401)") {
		t.Errorf("the inbox of %s:\n%s", login.Name, all)
	}
	r.provider.Fails("")
	r.Ok("exec", "retry", login.Name)
	if x := r.becomes(login.Name, work.Completed); x.Attempt != 2 {
		t.Errorf("%+v", x)
	}
}

// TestRunsBreaker: after three failures nothing more is asked of the provider for a while, the queue says so, and once it
// answers a single run finds out before the others start.
func TestRunsBreaker(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := newAsking(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_RETRIES=1", "ORCHESTRATOR_RUNS_PARALLEL=3")
	r.provider.Fails("529")
	var names []string
	for range 8 {
		names = append(names, r.run())
	}
	var said string
	e2e.Await(t, "the breaker to open", func() bool {
		said = r.Ok("queue", "list")
		return strings.Contains(said, "start again at")
	})
	opened := time.Now()
	asked := r.provider.Asked()
	if asked < 3 || asked > 5 { // those that were under way
		t.Errorf("%d requests until it opened", asked)
	}
	time.Sleep(5 * time.Second) // what must not happen
	if n := r.provider.Asked(); n > max(asked, 5) {
		t.Errorf("%d requests while it is open", n)
	}
	r.provider.Fails("")
	last := names[len(names)-1]
	r.becomes(last, work.Completed)
	t.Logf("closed %v after it opened", time.Since(opened).Round(time.Second))
	if said = r.Ok("queue", "list"); strings.Contains(said, "in a row failed") {
		t.Errorf("after it closed:\n%s", said)
	}
	if x := r.run(); r.becomes(x, work.Completed).Attempt != 1 {
		t.Error("what comes later does not start")
	}
}

// TestRunsFallBack: a run whose agent is limited is passed on to another by policy, and back to nobody.
func TestRunsFallBack(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := newAsking(t)
	r.provider.Fails("429 until")
	name := r.run("--on-fail", "fallback", "--fallback", "demo")
	x := r.becomes(name, work.Failed)
	if x.Instead == "" || !strings.Contains(x.Reason, "goes on with demo") {
		t.Fatalf("%+v", x)
	}
	y := r.becomes(string(x.Instead), work.Completed)
	if y.Agent != "demo" || y.For != x.ID || y.Fallback != work.NoFallback {
		t.Errorf("%+v", y)
	}
	if res := r.Run("exec", "fallback", y.Name); res.Code != exitcode.Refused && res.Code == 0 {
		t.Errorf("the fallback of a fallback: %+v", res)
	}
	offered := r.becomes(r.run("--on-fail", "ask", "--fallback", "demo"), work.Failed)
	if got := r.Ok("exec", "show", offered.Name); !strings.Contains(got, "fallback   demo") {
		t.Errorf("it is not offered:\n%s", got)
	}
	r.Ok("exec", "fallback", offered.Name)
	e2e.Await(t, "it to be passed on", func() bool {
		offered = r.show(offered.Name)
		return offered.State == work.Failed && offered.Instead != ""
	})
	r.becomes(string(offered.Instead), work.Completed)
	if res := r.Run("run", "--once", "-d", "-a", "demo", "--fallback", "demo", "x"); res.Code == 0 {
		t.Error("a fallback that is itself is accepted")
	}
}
