package manager_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	exec "orchestrator/thread/work"
)

// bounded asks for a run that may make some calls.
func (w *world) bounded(calls int, change ...func(*thread.NewRequest)) thread.Status {
	w.t.Helper()
	return w.once("do it", append(change, func(r *thread.NewRequest) { r.Once.Caps.Calls = calls })...)
}

// calls has a run's agent make calls of a tool, one after the other, each of which reads a file.
func (w *world) calls(id thread.ID, from, to int) {
	w.t.Helper()
	p := w.sess.of(id)
	for i := from; i <= to; i++ {
		call := fmt.Sprint("c", i)
		p.spec.OnRun(thread.RunEvent{Kind: thread.RunTool, Tool: "read", Call: call, Reads: fmt.Sprintf("f%d.txt", i%3)})
		p.spec.OnRun(thread.RunEvent{Kind: thread.RunResult, Call: call})
	}
	time.Sleep(time.Second) // it may note what its last call returned
	synctest.Wait()
}

// reports has a run's agent report, and end.
func (w *world) reports(id thread.ID, text string) {
	w.t.Helper()
	p := w.sess.of(id)
	w.turn(id, p.prompts())
	p.spec.OnRun(thread.RunEvent{Kind: thread.RunText, Text: text})
	p.spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunCompleted})
	p.exit(0)
	synctest.Wait()
}

// TestStopsAtItsBound: a run is stopped when its last call has returned, and asked once, in its session and without tools,
// how far it is and what is missing.
func TestStopsAtItsBound(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.bounded(4)
		w.respond(s.ID, "do it", "call", false)
		first := w.sess.of(s.ID)
		if got := first.prompts(); !strings.Contains(got, "You have 4 tool calls") {
			t.Errorf("asked %q", got)
		}
		w.calls(s.ID, 1, 3)
		w.runIs(s.ID, exec.Running)
		first.spec.OnRun(thread.RunEvent{Kind: thread.RunText, Text: "half an answer"})
		time.Sleep(2 * time.Second) // it is stored
		if x := w.runIs(s.ID, exec.Running); x.Calls != 3 {
			t.Errorf("%d calls while it works", x.Calls)
		}
		if r := w.status(s.ID).Run; r.Calls != 3 || r.MaxCalls != 4 {
			t.Errorf("listed with %d of %d", r.Calls, r.MaxCalls)
		}
		w.calls(s.ID, 4, 4)
		x := w.runIs(s.ID, exec.Running)
		second := w.sess.of(s.ID)
		if second == first || x.Attempt != 2 || !x.Reporting || x.Calls != 4 || x.Rereads != 1 {
			t.Fatalf("after its last call: %+v", x)
		}
		if args := strings.Join(second.spec.Launch.Args, " "); !strings.Contains(args, "--resume") || !strings.Contains(args, "--no-tools") {
			t.Errorf("started again with %s", args)
		}
		if got := second.prompts(); got != exec.AskReport(x) {
			t.Errorf("asked %q", got)
		}
		w.reports(s.ID, "I read three files.\n\n**Gap:** the tests")
		x = w.runIs(s.ID, exec.Failed)
		if x.Gap != "the tests" || !strings.HasPrefix(x.Answer, "I read three files.") || x.Calls != 4 ||
			x.Reason != "its 4 calls were used up; missing: the tests" {
			t.Errorf("ended: %+v", x)
		}
		if f := x.Failure; f.Class != exec.ClassAgent || f.Code != exec.CodePerformance || f.Do == "" {
			t.Errorf("its failure is %+v", f)
		}
		if s := w.status(s.ID); s.Turn != 2 || s.Run.Gap != "the tests" || s.Group() != thread.GroupNeedsYou {
			t.Errorf("the thread: turn %d, %+v, %s", s.Turn, s.Run, s.Group())
		}
		if len(w.list()) != 1 {
			t.Error("it has another execution")
		}
		events, err := w.m.Executions.Events(context.Background(), x.ID, 0, 0)
		said := false
		for _, e := range events {
			said = said || e.Text == "half an answer" && e.Attempt == 1
		}
		if err != nil || !said {
			t.Errorf("the record has lost what it said: %v, %+v", err, events)
		}
	}, withRuns, withCaps)
}

// list returns all executions.
func (w *world) list() []exec.Execution {
	w.t.Helper()
	list, err := w.m.Executions.List(context.Background(), exec.Query{})
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// TestEndsOfReports: how an execution ends whose calls were used up. It is never asked for a second report.
func TestEndsOfReports(t *testing.T) {
	used := "its 2 calls were used up"
	for name, c := range map[string]struct {
		end    func(w *world, id thread.ID)
		want   exec.State
		reason string
	}{
		"a gap":  {func(w *world, id thread.ID) { w.reports(id, "Gap: much") }, exec.Failed, used + "; missing: much"},
		"no gap": {func(w *world, id thread.ID) { w.reports(id, "Done.\nGap: none") }, exec.Completed, used + ", and nothing is missing"},
		"a denied call": {func(w *world, id thread.ID) {
			w.sess.of(id).spec.OnRun(thread.RunEvent{Kind: thread.RunTool, Tool: "read", Call: "x"})
			w.sess.of(id).spec.OnRun(thread.RunEvent{Kind: thread.RunRefused, Tool: "read", Text: "no calls are left: report"})
			w.reports(id, "Gap: much")
		}, exec.Failed, used + "; missing: much"},
		"none named": {func(w *world, id thread.ID) { w.reports(id, "I am lost") }, exec.Failed, used + ", and its report names no gap"},
		"calls on": {func(w *world, id thread.ID) {
			for range 4 {
				w.runIs(id, exec.Running)
				w.sess.of(id).spec.OnRun(thread.RunEvent{Kind: thread.RunTool, Tool: "read", Call: "x"})
			}
		}, exec.Failed, used + ", and it has not reported: it went on to call tools"},
		"fails": {func(w *world, id thread.ID) {
			w.sess.of(id).spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunFailed, Reason: "429", Status: 429, State: thread.StateLimited})
			w.sess.of(id).exit(1)
		}, exec.Failed, used + ", and it has not reported: 429"},
		"killed": {func(w *world, id thread.ID) { w.sess.of(id).exit(137) }, exec.Failed, used + ", and it has not reported: its process was killed by signal 9"},
		"cancelled": {func(w *world, id thread.ID) {
			if _, err := w.m.Executions.Cancel(context.Background(), w.execution(id).ID, "enough"); err != nil {
				w.t.Error(err)
			}
		}, exec.Cancelled, "enough"},
		"crash": {func(w *world, id thread.ID) { w.crash() }, exec.Failed, used + ", and it has not reported: its server ended while it worked"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.bounded(2, func(r *thread.NewRequest) { r.Once.Lost, r.Once.OnFail = "resume", "retry" })
				w.respond(s.ID, "do it", "call", false)
				w.calls(s.ID, 1, 2)
				if x := w.runIs(s.ID, exec.Running); !x.Reporting {
					t.Fatalf("%+v", x)
				}
				c.end(w, s.ID)
				time.Sleep(time.Minute)
				x := w.runIs(s.ID, c.want)
				if x.Reason != c.reason || x.Attempt != 2 || x.Calls != 2 {
					t.Errorf("attempt %d, %d calls: %q, want %q", x.Attempt, x.Calls, x.Reason, c.reason)
				}
			}, withRuns, withCaps)
		})
	}
}

// TestAsksNothingAfterItsLastCall: a request that a run makes after its last call is not sent, though the call was not
// reported as returned; requests beside its conversation, and those of its report, are.
func TestAsksNothingAfterItsLastCall(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.bounded(2)
		ask := func(main bool) error {
			hold, err := w.m.Budgets.Reserve(context.Background(), s.ID, budget.Ask{Model: "m1", Main: main})
			hold.Release()
			return err
		}
		if err := ask(true); err != nil {
			t.Errorf("its first request: %v", err)
		}
		w.respond(s.ID, "do it", "call", false)
		w.calls(s.ID, 1, 1)
		first := w.sess.of(s.ID)
		first.spec.OnRun(thread.RunEvent{Kind: thread.RunTool, Tool: "read", Call: "last"})
		if err := ask(false); err != nil {
			t.Errorf("a side request: %v", err)
		}
		if err := ask(true); !errors.Is(err, thread.ErrRefused) || !strings.Contains(err.Error(), "2 calls were used up") {
			t.Errorf("a request after its last call: %v", err)
		}
		if x := w.runIs(s.ID, exec.Running); !x.Reporting || w.sess.of(s.ID) == first || x.Calls != 2 {
			t.Errorf("%+v", x)
		}
		if err := ask(true); err != nil {
			t.Errorf("the request of its report: %v", err)
		}
		w.reports(s.ID, "Gap: much")
		w.runIs(s.ID, exec.Failed)
	}, withRuns, withCaps)
}

// TestRetriedAtItsBound: one that a person has tried again makes as many calls again, and reports again if it must.
func TestRetriedAtItsBound(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.bounded(2)
		w.respond(s.ID, "do it", "call", false)
		w.calls(s.ID, 1, 2)
		w.reports(s.ID, "Gap: the tests")
		x := w.runIs(s.ID, exec.Failed)
		if _, err := w.m.Executions.Retry(context.Background(), x.ID); err != nil {
			t.Fatal(err)
		}
		x = w.runIs(s.ID, exec.Running)
		p := w.sess.of(s.ID)
		if x.Reporting || x.Gap != "" || x.Caps.Calls != 4 || strings.Contains(strings.Join(p.spec.Launch.Args, " "), "--no-tools") {
			t.Errorf("tried again: %+v", x)
		}
		if got := p.prompts(); !strings.Contains(got, "missing is: the tests") || !strings.Contains(got, "You have 2 tool calls") {
			t.Errorf("asked %q", got)
		}
		w.respond(s.ID, p.prompts(), "call", false)
		w.calls(s.ID, 3, 4)
		if x = w.runIs(s.ID, exec.Running); !x.Reporting || x.Calls != 4 {
			t.Errorf("at its bound again: %+v", x)
		}
		w.reports(s.ID, "Gap: none")
		w.runIs(s.ID, exec.Completed)
	}, withRuns, withCaps)
}

// TestNoReport: what cannot go on in its session is not asked to report.
func TestNoReport(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.bounded(1)
		w.calls(s.ID, 1, 1) // nothing was stored of its session
		x := w.runIs(s.ID, exec.Failed)
		if x.Attempt != 1 || x.Reason != "its 1 call was used up, and it has not reported: its session cannot be resumed" {
			t.Errorf("attempt %d: %s", x.Attempt, x.Reason)
		}
	}, withRuns, withCaps)
}

// TestCallsOfABatch: calls at once count each, and the one over the bound stops the run though others have not returned.
// One without a bound is not stopped.
func TestCallsOfABatch(t *testing.T) {
	inWorld(t, func(w *world) {
		batch := func(id thread.ID, n int) {
			for i := range n {
				w.sess.of(id).spec.OnRun(thread.RunEvent{Kind: thread.RunTool, Tool: "read", Call: fmt.Sprint(i), Sub: "s"})
			}
			synctest.Wait()
		}
		s := w.bounded(2)
		w.respond(s.ID, "do it", "call", false)
		batch(s.ID, 2)
		if x := w.runIs(s.ID, exec.Running); x.Attempt != 1 {
			t.Error("it was stopped while its last call worked")
		}
		batch(s.ID, 1)
		if x := w.runIs(s.ID, exec.Running); !x.Reporting || x.Calls != 3 {
			t.Errorf("%+v", x)
		}
		free := w.bounded(exec.Uncapped)
		w.respond(free.ID, "do it", "call", false)
		batch(free.ID, 200)
		w.finish(free.ID, "do it")
		if x := w.runIs(free.ID, exec.Completed); x.Calls != 200 {
			t.Errorf("%+v", x)
		}
	}, withRuns, withCaps)
}

// TestReportTakesNothing: what is sent to a run that only reports, or is being stopped at its bound, is the thread's next run.
func TestReportTakesNothing(t *testing.T) {
	for _, reports := range []bool{false, true} {
		t.Run(fmt.Sprint(reports), func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.bounded(2)
				w.respond(s.ID, "do it", "call", false)
				p := w.sess.of(s.ID)
				for _, call := range []string{"a", "b"} {
					p.spec.OnRun(thread.RunEvent{Kind: thread.RunTool, Tool: "read", Call: call})
					p.spec.OnRun(thread.RunEvent{Kind: thread.RunResult, Call: call})
				}
				if reports {
					time.Sleep(time.Minute)
					p = w.sess.of(s.ID)
				}
				if x := w.runIs(s.ID, exec.Running); x.Reporting != reports {
					t.Fatalf("%+v", x)
				}
				two := w.ask(s.ID, "a further one")
				if strings.Contains(p.prompts(), "a further one") {
					t.Errorf("it was asked %q", p.prompts())
				}
				w.is(two.ID, thread.PromptQueued)
				time.Sleep(time.Minute)
				w.reports(s.ID, "Gap: much")
				time.Sleep(time.Minute)
				if x := w.runIs(s.ID, exec.Running); x.Prompt != two.ID || x.Reporting || w.sess.of(s.ID).prompts() == "" {
					t.Errorf("next is %+v", x)
				}
			}, withAsks, withCaps)
		})
	}
}

// TestEndsWithItsLastCall: one that completes though its bound is reached has completed.
func TestEndsWithItsLastCall(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.bounded(2)
		w.respond(s.ID, "do it", "call", false)
		p := w.sess.of(s.ID)
		w.calls(s.ID, 1, 1)
		p.spec.OnRun(thread.RunEvent{Kind: thread.RunTool, Tool: "read", Call: "last"})
		p.spec.OnRun(thread.RunEvent{Kind: thread.RunText, Text: "the answer"})
		p.spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunCompleted})
		p.exit(0)
		if x := w.runIs(s.ID, exec.Completed); x.Calls != 2 || x.Answer != "the answer" || x.Reporting {
			t.Errorf("%+v", x)
		}
	}, withRuns, withCaps)
}

// TestOverlongAnswer: an answer with more words than it may have is kept whole under a token, and the record says so.
func TestOverlongAnswer(t *testing.T) {
	var staged []string
	inWorld(t, func(w *world) {
		s := w.once("do it", func(r *thread.NewRequest) { r.Once.Caps.Words = 5 })
		p := w.sess.of(s.ID)
		w.turn(s.ID, "do it")
		const answer = "one two three\n```\ncode is not counted at all\n```\nfour five six"
		p.spec.OnRun(thread.RunEvent{Kind: thread.RunText, Text: answer})
		p.spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunCompleted})
		p.exit(0)
		x := w.runIs(s.ID, exec.Completed)
		if x.Whole != "stage_1" || x.Answer != answer || len(staged) != 1 || staged[0] != answer {
			t.Errorf("%+v, staged %q", x, staged)
		}
		events, _ := w.m.Executions.Events(context.Background(), x.ID, 0, 0)
		noted := ""
		for _, e := range events {
			if e.Kind == "note" {
				noted += e.Text
			}
		}
		if noted != "its answer has 6 words, 5 are allowed: the whole is stage_1" {
			t.Errorf("noted %q", noted)
		}
		short := w.once("do it", func(r *thread.NewRequest) { r.Once.Caps.Words = 6 })
		w.finish(short.ID, "do it")
		if x := w.runIs(short.ID, exec.Completed); x.Whole != "" {
			t.Errorf("%+v", x)
		}
	}, withRuns, withCaps, func(w *world) {
		w.cfg.Runs.Stage = func(_ context.Context, r thread.StageRequest, data io.Reader) (thread.Token, error) {
			b, err := io.ReadAll(data)
			if err == nil {
				staged = append(staged, string(b))
			}
			return thread.Token(fmt.Sprint("stage_", len(staged))), err
		}
	})
}
