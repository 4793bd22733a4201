package manager_test

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// refused has the newest process of a thread be refused by its provider, and end as agents end then.
func (w *world) refused(id thread.ID, e thread.Exchange) {
	w.t.Helper()
	w.m.Traffic.RequestStarted(id, thread.Begun{Main: true, Model: "m1", At: time.Now()})
	e.Main, e.Started, e.Ended = true, time.Now(), time.Now()
	w.m.Traffic.ExchangeEnded(id, e)
	p := w.sess.of(id)
	p.spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunFailed, Reason: "API error", Status: e.Status})
	p.exit(1)
	synctest.Wait()
}

func busy() thread.Exchange { return thread.Exchange{Status: 529, Err: "overloaded"} }

// notes are the texts of the states in the record of an execution.
func (w *world) notes(x exec.Execution) string {
	w.t.Helper()
	events, err := w.m.Executions.Events(context.Background(), x.ID, 0, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, e := range events {
		if e.State != "" {
			all = append(all, fmt.Sprintf("%d %s %s", e.Attempt, e.State, e.Text))
		}
	}
	return strings.Join(all, "\n")
}

// TestTriedAgain: a run whose provider is overloaded waits, says until when and why, and is tried again, five times in all;
// each is in its record, the second is told, and what it cost is counted over all of them.
func TestTriedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("do it")
		var waited []time.Duration
		for n := 1; n <= 4; n++ {
			w.refused(s.ID, busy())
			x := w.runIs(s.ID, exec.Queued)
			if x.Retries != n || x.Attempt != n || x.After.IsZero() || x.Failure.Status != 529 || x.Failure.Class != exec.ClassTransport {
				t.Fatalf("after attempt %d: %+v", n, x)
			}
			want := fmt.Sprintf("tried again at %s: the provider is overloaded (529), attempt %d of 5", x.After.Local().Format(time.TimeOnly), n+1)
			if x.Reason != want || w.status(s.ID).Run.Reason != want {
				t.Errorf("it waits because %q, listed as %q, want %q", x.Reason, w.status(s.ID).Run.Reason, want)
			}
			wait := x.After.Sub(w.now())
			waited = append(waited, wait)
			if wait > time.Millisecond {
				time.Sleep(wait - time.Millisecond)
				w.runIs(s.ID, exec.Queued) // not before
			}
			time.Sleep(2 * time.Millisecond)
			if n >= 3 { // its agent is left alone
				time.Sleep(time.Minute)
			}
			w.runIs(s.ID, exec.Running)
			if got := w.sess.of(s.ID).prompts(); got != "do it" {
				t.Errorf("attempt %d was asked %q", n+1, got)
			}
		}
		if told := w.events.notices(); strings.Count(told, "failed again") != 3 {
			t.Errorf("people were told:\n%s", told)
		}
		w.refused(s.ID, busy())
		x := w.runIs(s.ID, exec.Failed)
		if x.Attempt != 5 || x.Reason != "the provider is overloaded (529), in each of 5 attempts" || x.Failure.Do == "" {
			t.Errorf("at last: %+v", x)
		}
		if notes := w.notes(x); strings.Count(notes, "queued the provider is overloaded") != 4 {
			t.Errorf("its record:\n%s", notes)
		}
		t.Logf("it waited %v", waited)
	}, withRuns)
}

// TestGoesOn: a run that had answers already goes on in its session, and is paid for once.
func TestGoesOn(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("do it")
		w.sess.of(s.ID).spec.OnRun(thread.RunEvent{Kind: thread.RunSession, Session: "s"})
		w.respond(s.ID, "do it", "call", false)
		w.refused(s.ID, thread.Exchange{Status: 200, Interrupted: true, Err: "EOF", Fault: thread.FaultCut})
		x := w.runIs(s.ID, exec.Queued)
		if x.Failure.State != thread.StateCut || x.Usage.CostUSD != 0.25 {
			t.Fatalf("%+v", x)
		}
		time.Sleep(time.Minute)
		w.runIs(s.ID, exec.Running)
		asked := w.sess.of(s.ID).prompts()
		if !strings.Contains(asked, "Look at what is already done") || !strings.Contains(w.args(s.ID), "resume") {
			t.Errorf("started with %s, asked %q", w.args(s.ID), asked)
		}
		w.finish(s.ID, asked)
		if x = w.runIs(s.ID, exec.Completed); x.Attempt != 2 || x.Retries != 1 || x.Usage.CostUSD != 0.25+0.5 {
			t.Errorf("%+v", x)
		}
		if x.Failure != (exec.Failure{}) {
			t.Errorf("it completed, and has failed with %+v", x.Failure)
		}
	}, withRuns)
}

// TestGoesOnBesideTheGateway: a run whose requests nobody sees, and which has told of work, goes on in its session: its
// prompt is not given to it again. One that has told of none is asked again.
func TestGoesOnBesideTheGateway(t *testing.T) {
	for name, tc := range map[string]struct {
		told  thread.RunEvent
		again bool
	}{
		"a call":    {thread.RunEvent{Kind: thread.RunTool, Tool: "Edit", Call: "c1", Text: "a.go"}, false},
		"words":     {thread.RunEvent{Kind: thread.RunText, Text: "first I look"}, false},
		"no words":  {thread.RunEvent{Kind: thread.RunText, Text: "\n"}, true},
		"its model": {thread.RunEvent{Kind: thread.RunSession, Session: "s", Model: "m1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.once("do it", func(r *thread.NewRequest) { r.Flags.NoGateway = true })
				p := w.sess.of(s.ID)
				session := w.status(s.ID).Session
				p.spec.OnRun(thread.RunEvent{Kind: thread.RunSession, Session: session})
				w.natives.append(session, []thread.Item{item("user", "do it"), item("assistant", "call"), item("user", "result")})
				p.spec.OnRun(tc.told)
				p.spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunFailed, Reason: "reset", State: thread.StateCut})
				p.exit(1)
				if x := w.runIs(s.ID, exec.Queued); x.Failure.State != thread.StateCut || x.Retries != 1 {
					t.Fatalf("%+v", x)
				}
				time.Sleep(time.Minute)
				w.runIs(s.ID, exec.Running)
				if got := w.sess.of(s.ID).prompts(); (got == "do it") != tc.again || !tc.again && got != goesOn {
					t.Errorf("started with %s, it was asked %q", w.args(s.ID), got)
				}
			}, withRuns)
		})
	}
}

// goesOn is what a run is asked that had worked when its connection failed.
const goesOn = "The connection to your model failed before you had finished. Look at what is already done, then finish it."

// TestAnotherWayInItsSession: a run that has worked, goes on after a cut and is then refused is asked for another way, and
// not given its prompt again.
func TestAnotherWayInItsSession(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("do it", func(r *thread.NewRequest) { r.Once.OnFail = string(exec.FailRetry) })
		w.sess.of(s.ID).spec.OnRun(thread.RunEvent{Kind: thread.RunSession, Session: "s"})
		w.respond(s.ID, "do it", "call", false)
		w.refused(s.ID, thread.Exchange{Status: 200, Interrupted: true, Err: "EOF", Fault: thread.FaultCut})
		time.Sleep(time.Minute)
		if got := w.sess.of(s.ID).prompts(); got != goesOn {
			t.Fatalf("it was asked %q", got)
		}
		w.refused(s.ID, thread.Exchange{Status: 400, Err: "no"})
		w.runIs(s.ID, exec.Running)
		if got := w.sess.of(s.ID).prompts(); !strings.HasPrefix(got, "Your last attempt failed") {
			t.Errorf("it was asked %q", got)
		}
	}, withRuns)
}

// TestWhatFollows: what each failure of a provider leads to, by policy.
func TestWhatFollows(t *testing.T) {
	hours := func() time.Time { return time.Now().Add(5 * time.Hour) }
	for _, c := range []struct {
		name  string
		on    exec.OnFail
		e     func() thread.Exchange
		state exec.State
		code  exec.Code
	}{
		{"401", "", func() thread.Exchange { return thread.Exchange{Status: 401, Err: "no"} }, exec.Failed, exec.CodeIntegration},
		{"403, retry", exec.FailRetry, func() thread.Exchange { return thread.Exchange{Status: 403, Err: "no"} }, exec.Failed, exec.CodeIntegration},
		{"400", "", func() thread.Exchange { return thread.Exchange{Status: 400, Err: "no"} }, exec.Failed, exec.CodeAgent},
		{"400, retry", exec.FailRetry, func() thread.Exchange { return thread.Exchange{Status: 400, Err: "no"} }, exec.Running, ""},
		{"a limit", "", func() thread.Exchange { return thread.Exchange{Status: 429, Until: hours()} }, exec.Queued, exec.CodeIntegration},
		{"a limit, ask", exec.FailAsk, func() thread.Exchange { return thread.Exchange{Status: 429, Until: hours()} }, exec.Failed, exec.CodeIntegration},
		{"busy, ask", exec.FailAsk, busy, exec.Failed, exec.CodeIntegration},
		{"no connection", "", func() thread.Exchange {
			return thread.Exchange{Interrupted: true, Err: "refused", Fault: thread.FaultUnreachable}
		}, exec.Queued, exec.CodeIntegration},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.once("do it", func(r *thread.NewRequest) { r.Once.OnFail = string(c.on) })
				w.refused(s.ID, c.e())
				x := w.runIs(s.ID, c.state)
				if x.Failure.Code != c.code {
					t.Errorf("%+v", x.Failure)
				}
				if c.state == exec.Running {
					if got := w.sess.of(s.ID).prompts(); !strings.HasPrefix(got, "do it") || !strings.Contains(got, "Take another approach") || x.Redone != 1 {
						t.Errorf("asked %q, done again %d times", got, x.Redone)
					}
					w.refused(s.ID, c.e())
					w.runIs(s.ID, exec.Failed) // not a third time
				}
			}, withRuns)
		})
	}
}

// TestLimitOverRestart: a run that waits for the end of a limit goes on when it ends, also after a restart, a kill, and a
// clock that is set.
func TestLimitOverRestart(t *testing.T) {
	for name, between := range map[string]func(*world){
		"nothing": func(*world) {}, "a restart": func(w *world) { w.close(); w.open() }, "a kill": func(w *world) { w.crash() },
		"the clock is set back":        func(w *world) { w.set(-24 * time.Hour) },
		"set back before a restart":    func(w *world) { w.set(-24 * time.Hour); w.close(); w.open() },
		"the clock is set to and back": func(w *world) { w.set(-time.Hour); time.Sleep(time.Second); w.set(0) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.once("do it")
				w.refused(s.ID, thread.Exchange{Status: 429, Err: "limit", Until: time.Now().Add(5 * time.Hour)})
				time.Sleep(time.Second)
				w.runIs(s.ID, exec.Queued)
				between(w)
				synctest.Wait()
				if x := w.runIs(s.ID, exec.Queued); !strings.HasPrefix(x.Reason, "goes on at ") || x.Attempt != 1 || x.Retries != 1 {
					t.Fatalf("%+v", x)
				}
				time.Sleep(4 * time.Hour)
				w.runIs(s.ID, exec.Queued)
				time.Sleep(time.Hour + 10*time.Second)
				w.runIs(s.ID, exec.Running)
				w.finish(s.ID, "do it")
				w.runIs(s.ID, exec.Completed)
			}, withRuns)
		})
	}
}

// TestClockAhead: a clock that is set ahead has what waits start, and starts it once.
func TestClockAhead(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("do it")
		w.refused(s.ID, thread.Exchange{Status: 429, Err: "limit", Until: time.Now().Add(5 * time.Hour)})
		w.runIs(s.ID, exec.Queued)
		w.set(10 * 365 * 24 * time.Hour)
		time.Sleep(10 * time.Second)
		if x := w.runIs(s.ID, exec.Running); x.Attempt != 2 {
			t.Errorf("%+v", x)
		}
	}, withRuns)
}

// TestBreakerOpens: after three failures in a row nothing more of the agent starts; after a pause one finds out, and its
// first answer lets the others go.
func TestBreakerOpens(t *testing.T) {
	inWorld(t, func(w *world) {
		var ids []thread.ID
		for n := range 8 {
			ids = append(ids, w.once(fmt.Sprint("task ", n), func(r *thread.NewRequest) { r.InPlace = true }).ID)
		}
		other := w.once("another's", func(r *thread.NewRequest) { r.Agent = "codex"; r.InPlace = true })
		for _, id := range ids[:3] {
			w.refused(id, busy())
		}
		started := func() (n int) {
			for _, id := range ids {
				if w.execution(id).State.Holds() {
					n++
				}
			}
			return n
		}
		report, err := w.m.Executions.Queue(context.Background())
		if err != nil || !slices.ContainsFunc(report.Limits, func(l exec.QueueLimit) bool {
			return l.Agent == "claude" && strings.Contains(l.Why, "3 attempts in a row failed")
		}) {
			t.Errorf("the queue says %+v, %v", report.Limits, err)
		}
		if x := w.execution(ids[7]); x.State != exec.Queued || !strings.HasPrefix(x.Reason, "claude runs start again at ") {
			t.Errorf("%s: %q", x.State, x.Reason)
		}
		w.runIs(other.ID, exec.Running) // another agent is not concerned
		for n := 3; n <= 5; n++ {       // they were under way
			w.finish(ids[n], fmt.Sprint("task ", n))
		}
		if n := started(); n != 0 {
			t.Errorf("%d have started in the pause", n)
		}
		time.Sleep(30 * time.Second)
		if n := started(); n != 1 {
			t.Fatalf("%d find out whether it works", n)
		}
		var probe thread.ID
		for _, id := range ids {
			if w.execution(id).State.Holds() {
				probe = id
			}
		}
		w.refused(probe, busy())
		time.Sleep(20 * time.Second)
		if n := started(); n != 0 {
			t.Errorf("%d have started in the second pause", n)
		}
		time.Sleep(40 * time.Second)
		if n := started(); n != 1 {
			t.Fatalf("%d find out whether it works", n)
		}
		time.Sleep(time.Minute) // it asks its model nothing, as one that waits for a tool
		if n := started(); n != 2 {
			t.Fatalf("%d find out whether it works, one of which is silent", n)
		}
		for _, id := range ids {
			if w.execution(id).State.Holds() {
				w.respond(id, w.sess.of(id).prompts(), "call", false)
			}
		}
		if n := started(); n != 4 {
			t.Errorf("after an answer %d run", n)
		}
	}, withRuns, func(w *world) { w.cfg.Runs.Limits.All, w.cfg.Runs.Limits.Agent = 10, 4 })
}

// TestOursIsNotTheProviders: requests that the gateway refuses end no run as if its provider had failed: they are not tried
// again, take no fallback, and keep no other run of the agent waiting.
func TestOursIsNotTheProviders(t *testing.T) {
	inWorld(t, func(w *world) {
		var ids []thread.ID
		for n := range 4 {
			ids = append(ids, w.once(fmt.Sprint("task ", n), func(r *thread.NewRequest) {
				r.InPlace, r.Once.OnFail, r.Once.Fallback = true, string(exec.FailFallback), "model:m2"
			}).ID)
		}
		for n, status := range []int{429, 503, 429} {
			why := thread.NotSent + "the cap of it is reached"
			w.refused(ids[n], thread.Exchange{Status: status, Fault: thread.FaultOurs, Err: why, Until: time.Now().Add(time.Minute)})
			x := w.runIs(ids[n], exec.Failed)
			if x.Retries != 0 || x.Instead != "" || x.Failure.Class != exec.ClassOurs || x.Reason != why {
				t.Errorf("%d: %+v", status, x)
			}
		}
		if open := w.breaks(); len(open) > 0 {
			t.Errorf("its way is closed: %v", open)
		}
		if told := w.events.notices(); strings.Contains(told, "provider") {
			t.Errorf("people were told:\n%s", told)
		}
		w.finish(ids[3], "task 3")
		w.runIs(ids[3], exec.Completed)
	}, withRuns, func(w *world) { w.cfg.Runs.Limits.All, w.cfg.Runs.Limits.Agent = 10, 4 })
}

// breaks are why runs of an agent do not start.
func (w *world) breaks() (why []string) {
	w.t.Helper()
	report, err := w.m.Executions.Queue(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, l := range report.Limits {
		if l.Why != "" {
			why = append(why, l.Agent+": "+l.Why)
		}
	}
	return why
}

// insistingAgent asks a provider again by itself, for as long as that says.
type insistingAgent struct{ headlessAgent }

func (a *insistingAgent) Headless(ctx context.Context, s thread.LaunchSpec) (thread.HeadlessLaunch, error) {
	h, err := a.headlessAgent.Headless(ctx, s)
	h.Insists = true
	return h, err
}

// TestInsists: an agent that would ask a provider that fails again by itself is ended at the first failure, and when it is
// tried again is decided here. What is no failure of the provider's ends nothing.
func TestInsists(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("do it")
		fails := func(e thread.Exchange) {
			w.m.Traffic.RequestStarted(s.ID, thread.Begun{Main: true, Model: "m1", At: time.Now()})
			e.Main, e.Started, e.Ended = true, time.Now(), time.Now()
			w.m.Traffic.ExchangeEnded(s.ID, e)
			synctest.Wait()
		}
		fails(thread.Exchange{Status: 400, Err: "no"})
		fails(thread.Exchange{Interrupted: true, Fault: thread.FaultAgent})
		fails(thread.Exchange{Status: 429, Fault: thread.FaultOurs, Err: thread.NotSent + "wait"})
		w.runIs(s.ID, exec.Running)
		fails(busy())
		x := w.runIs(s.ID, exec.Queued)
		if x.Failure.Class != exec.ClassTransport || x.Failure.Status != 529 || x.Retries != 1 || !x.After.After(w.now()) {
			t.Errorf("%+v", x)
		}
		time.Sleep(time.Minute)
		w.runIs(s.ID, exec.Running)
		fails(thread.Exchange{Status: 429, Err: "limit", Until: time.Now().Add(5 * time.Hour)})
		if x = w.runIs(s.ID, exec.Queued); time.Until(x.After) < 4*time.Hour {
			t.Errorf("%+v", x)
		}
		time.Sleep(5*time.Hour + time.Minute)
		w.runIs(s.ID, exec.Running)
		w.finish(s.ID, "do it")
		w.runIs(s.ID, exec.Completed)
	}, withRuns, func(w *world) {
		w.agents["claude"] = &insistingAgent{headlessAgent{fullAgent{plainAgent{"claude"}, w.natives}}}
	})
}

// fullAgentDisk prepares no start while the disk is full, in the words of the system.
type fullAgentDisk struct {
	headlessAgent
	full atomic.Bool
}

func (a *fullAgentDisk) Headless(ctx context.Context, s thread.LaunchSpec) (thread.HeadlessLaunch, error) {
	if a.full.Load() {
		return thread.HeadlessLaunch{}, fmt.Errorf("write launch file: %w", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC})
	}
	return a.headlessAgent.Headless(ctx, s)
}

// TestStartsOnceThereIsSpace: a run that cannot be started because the disk is full has not failed: it waits.
func TestStartsOnceThereIsSpace(t *testing.T) {
	var a *fullAgentDisk
	inWorld(t, func(w *world) {
		s := w.once("do it")
		w.runIs(s.ID, exec.Queued)
		a.full.Store(false)
		time.Sleep(time.Minute)
		w.runIs(s.ID, exec.Running)
	}, withRuns, func(w *world) {
		a = &fullAgentDisk{headlessAgent: headlessAgent{fullAgent{plainAgent{"claude"}, w.natives}}}
		a.full.Store(true)
		w.agents["claude"] = a
	})
}
