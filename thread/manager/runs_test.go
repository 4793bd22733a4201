package manager_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/checkpoint/worktest/memory"
	"orchestrator/thread"
	"orchestrator/thread/manager"
	exec "orchestrator/thread/work"
)

// headlessAgent is a fullAgent that also runs without a terminal.
type headlessAgent struct{ fullAgent }

func (a *headlessAgent) Headless(ctx context.Context, s thread.LaunchSpec) (thread.HeadlessLaunch, error) {
	l, err := a.Launch(ctx, s)
	l.Args = append(l.Args, "--headless")
	if s.Once.Caps.NoTools {
		l.Args = append(l.Args, "--no-tools")
	}
	return thread.HeadlessLaunch{Launch: l, Dialogue: silent{}}, err
}

// silent is a Dialogue that the fake sessions never use: tests report themselves.
type silent struct{}

func (silent) Begin(string) thread.Said { return thread.Said{} }
func (silent) Read([]byte) thread.Said  { return thread.Said{} }
func (silent) Interrupt() thread.Said   { return thread.Said{} }
func (silent) End(int) thread.Said      { return thread.Said{} }

// withRuns has the agents claude and codex run without a terminal.
func withRuns(w *world) {
	w.agents["claude"] = &headlessAgent{fullAgent{plainAgent{"claude"}, w.natives}}
	w.agents["codex"] = &headlessAgent{fullAgent{plainAgent{"codex"}, w.natives}}
	w.cfg.Runs = manager.RunsConfig{Store: memory.New(w.now), Limits: exec.Limits{All: 4}, Caps: uncapped}
}

// once asks for a run.
func (w *world) once(prompt string, change ...func(*thread.NewRequest)) thread.Status {
	w.t.Helper()
	r := thread.NewRequest{Agent: "claude", Prompt: prompt, Once: thread.Once{On: true}}
	for _, c := range change {
		c(&r)
	}
	return w.create(r)
}

// execution returns the newest execution of a thread.
func (w *world) execution(id thread.ID) exec.Execution {
	w.t.Helper()
	synctest.Wait()
	list, err := w.m.Executions.List(context.Background(), exec.Query{Thread: id, Limit: 1})
	if err != nil || len(list) == 0 {
		w.t.Fatalf("executions of %s: %v, %v", id, list, err)
	}
	return list[0]
}

// runIs fails unless the newest execution of a thread is in a state, in the store and in the list of threads.
func (w *world) runIs(id thread.ID, want exec.State) exec.Execution {
	w.t.Helper()
	x := w.execution(id)
	if x.State != want {
		w.t.Fatalf("%s is %s (%s), want %s", x.Name, x.State, x.Reason, want)
	}
	if s := w.status(id); s.Run == nil || s.Run.State != string(want) || s.Run.Execution != x.Name {
		w.t.Fatalf("listed as %+v, want %s", s.Run, want)
	}
	return x
}

// finish has the process of a run answer its prompt and end.
func (w *world) finish(id thread.ID, prompt string) {
	w.t.Helper()
	p := w.sess.of(id)
	p.spec.OnRun(thread.RunEvent{Kind: thread.RunSession, Session: "s"})
	w.turn(id, prompt)
	p.spec.OnRun(thread.RunEvent{Kind: thread.RunText, Text: "the ans"})
	p.spec.OnRun(thread.RunEvent{Kind: thread.RunText, Text: "wer"})
	p.spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunCompleted})
	p.exit(0)
	synctest.Wait()
}

func (w *world) promptOf(x exec.Execution) thread.Prompt {
	w.t.Helper()
	p, err := w.m.Prompts.Prompt(context.Background(), string(x.Thread), x.Prompt)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// TestRun: a run has its rows before its process, is given its prompt, and ends with its answer, its price and nothing
// left.
func TestRun(t *testing.T) {
	inWorld(t, func(w *world) {
		var rows []exec.State
		var open int
		w.sess.started = func(spec thread.SessionSpec) {
			list, _ := w.cfg.Runs.Store.Executions(context.Background(), exec.Query{Thread: spec.Thread})
			rows = append(rows, list[0].State)
			runs, _ := w.store.OpenExecutions(context.Background())
			open = len(runs)
			if spec.Dialogue == nil || !slices.Contains(spec.Launch.Args, "--headless") {
				t.Error("it was started in a terminal")
			}
		}
		s := w.once("do it")
		x := w.runIs(s.ID, exec.Running)
		if !slices.Equal(rows, []exec.State{exec.Deployed}) || open != 1 {
			t.Errorf("at its start: %v, %d processes with a row", rows, open)
		}
		if x.Name != "exec-001" || x.Process == "" || x.Started.IsZero() || x.Attempt != 1 {
			t.Errorf("running: %+v", x)
		}
		if got := w.sess.of(s.ID).prompts(); got != "do it" {
			t.Errorf("it was asked %q", got)
		}
		w.finish(s.ID, "do it")
		x = w.runIs(s.ID, exec.Completed)
		if x.Answer != "the answer" || x.Usage.Output != 10 || x.Usage.CostUSD != 0.5 {
			t.Errorf("completed: %+v", x)
		}
		if p := w.promptOf(x); p.State != thread.PromptAnswered {
			t.Errorf("its prompt is %s (%s)", p.State, p.Reason)
		}
		s = w.status(s.ID)
		if s.Execution != nil || s.Interrupted || s.Group() != thread.GroupToRead || s.Turn != 1 {
			t.Errorf("the thread: %+v, group %s", s.State, s.Group())
		}
		events, err := w.m.Executions.Events(context.Background(), x.ID, 0, 100)
		var kinds []string
		for _, e := range events {
			kinds = append(kinds, string(e.State)+e.Kind+e.Text)
		}
		want := []string{"queued", "deployed", "running", "givendo it", "sessions", "textthe answer", "endcompleted", "saidthe answer", "completed"}
		if err != nil || !slices.Equal(kinds, want) {
			t.Errorf("recorded %q, want %q (%v)", kinds, want, err)
		}
	}, withRuns)
}

// TestRunsOutput: what the process prints is staged, and the execution names it, also if the server stops meanwhile; a
// stage that fails costs nothing else.
func TestRunsOutput(t *testing.T) {
	for name, full := range map[string]error{"kept": nil, "full": thread.ErrDiskFull, "stopped": nil} {
		t.Run(name, func(t *testing.T) {
			var staged strings.Builder
			inWorld(t, func(w *world) {
				s := w.once("do it")
				for _, piece := range []string{"{", "}\n"} {
					if _, err := w.sess.of(s.ID).spec.Raw.Write([]byte(piece)); !errors.Is(err, full) {
						t.Errorf("written: %v", err)
					}
				}
				end := exec.Completed
				if name == "stopped" {
					end = exec.Lost
					w.close()
					w.open()
				} else {
					w.finish(s.ID, "do it")
				}
				x := w.runIs(s.ID, end)
				if want := map[bool]thread.Token{true: "at:1"}[full == nil]; x.Output != want || full == nil && staged.String() != "{}\n" {
					t.Errorf("output %q, staged %q", x.Output, staged.String())
				}
			}, withRuns, func(w *world) {
				w.cfg.Runs.Stage = func(_ context.Context, r thread.StageRequest, data io.Reader) (thread.Token, error) {
					if full != nil {
						return "", full
					}
					_, err := io.Copy(&staged, data)
					return "at:1", err
				}
			})
		})
	}
}

// TestNextRun: a prompt to a thread that runs without a terminal is its next run, in its session.
func TestNextRun(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("one")
		for _, prompt := range []string{"two", "three"} {
			if _, err := w.m.Prompts.Ask(context.Background(), string(s.ID), thread.AskRequest{Text: prompt}); err != nil {
				t.Fatal(err)
			}
		}
		x := w.runIs(s.ID, exec.Queued)
		if !strings.Contains(x.Reason, "of the same thread") {
			t.Errorf("it waits because %q", x.Reason)
		}
		for _, prompt := range []string{"one", "two", "three"} {
			if got := w.sess.of(s.ID).prompts(); got != prompt {
				t.Fatalf("asked %q, want %q", got, prompt)
			}
			w.finish(s.ID, prompt)
		}
		w.runIs(s.ID, exec.Completed)
		p := w.sess.of(s.ID)
		if !slices.Contains(p.spec.Launch.Args, "--resume") || w.status(s.ID).Turn != 3 {
			t.Errorf("turn %d, args %v", w.status(s.ID).Turn, p.spec.Launch.Args)
		}
		list, _ := w.m.Executions.List(context.Background(), exec.Query{})
		for _, x := range list {
			if x.Usage.CostUSD != 0.5 {
				t.Errorf("%s cost %v", x.Name, x.Usage.CostUSD)
			}
		}
	}, withRuns)
}

// TestRunsWait: limits hold, each that waits says why, what a person asks for goes before what an agent asks for, and a
// pause holds over a restart.
func TestRunsWait(t *testing.T) {
	inWorld(t, func(w *world) {
		asker := w.create(thread.NewRequest{}) // in a terminal: it has no place that it could lend
		first := w.once("first")
		agents := w.once("agent's", func(r *thread.NewRequest) { r.By = asker.ID; r.InPlace = true })
		persons := w.once("person's", func(r *thread.NewRequest) { r.InPlace = true })
		w.runIs(first.ID, exec.Running)
		if x := w.runIs(agents.ID, exec.Queued); x.Reason != "1 of 1 runs are running" || x.Depth != 1 {
			t.Errorf("waits because %q, depth %d", x.Reason, x.Depth)
		}
		if s := w.status(persons.ID); s.Run.Reason == "" || s.Group() != thread.GroupWorking {
			t.Errorf("listed as %+v in %s", s.Run, s.Group())
		}
		w.finish(first.ID, "first")
		w.runIs(persons.ID, exec.Running)
		w.runIs(agents.ID, exec.Queued)
		if _, err := w.m.Executions.SetQueue(context.Background(), exec.QueueChange{Pause: true}); err != nil {
			t.Fatal(err)
		}
		w.finish(persons.ID, "person's")
		w.runIs(agents.ID, exec.Queued)
		w.close()
		w.open()
		if x := w.runIs(agents.ID, exec.Queued); x.Reason != "the queue is paused" || !w.m.Executions.Pending() {
			t.Errorf("waits because %q", x.Reason)
		}
		if _, err := w.m.Executions.SetQueue(context.Background(), exec.QueueChange{Resume: true, Limit: 3}); err != nil {
			t.Fatal(err)
		}
		w.runIs(agents.ID, exec.Running)
		q, _ := w.m.Executions.Queue(context.Background())
		if len(q.Active) != 1 || len(q.Waiting) != 0 || q.Limits[0].Most != 3 || q.Limits[0].Paused {
			t.Errorf("the queue: %+v", q)
		}
	}, withRuns, func(w *world) { w.cfg.Runs.Limits.All = 1 })
}

// TestRunsWaitForAgents: a run waits, and is not refused, while as many agents run as may.
func TestRunsWaitForAgents(t *testing.T) {
	inWorld(t, func(w *world) {
		first := w.create(thread.NewRequest{Agent: "claude"})
		s := w.once("do it", func(r *thread.NewRequest) { r.InPlace = true })
		if x := w.runIs(s.ID, exec.Queued); !strings.Contains(x.Reason, "1 agent already running") {
			t.Errorf("waits because %q", x.Reason)
		}
		if _, err := w.m.Creation.New(context.Background(), thread.NewRequest{Agent: "claude", InPlace: true}); !errors.Is(err, thread.ErrLimit) {
			t.Errorf("another agent in a terminal: %v", err)
		}
		w.sess.of(first.ID).exit(0)
		time.Sleep(time.Minute)
		w.runIs(s.ID, exec.Running)
	}, withRuns, func(w *world) { w.cfg.Limits.Running = 1 })
}

// TestCancelRun: a run that waits is cancelled at once, one that works with its process, and cancelling it twice at once
// is cancelling it.
func TestCancelRun(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		works, waits := w.once("works"), w.once("waits", func(r *thread.NewRequest) { r.InPlace = true })
		x, err := w.m.Executions.Cancel(ctx, w.execution(waits.ID).ID, "not needed")
		if err != nil || x.State != exec.Cancelled {
			t.Fatalf("cancelled one that waits: %v, %v", x.State, err)
		}
		synctest.Wait()
		if p := w.promptOf(x); p.State != thread.PromptCancelled {
			t.Errorf("its prompt is %s", p.State)
		}
		id := w.execution(works.ID).ID
		errs := make(chan error, 2)
		for range 2 {
			go func() { _, err := w.m.Executions.Cancel(ctx, id, "enough"); errs <- err }()
		}
		if err := errors.Join(<-errs, <-errs); err != nil {
			t.Error(err)
		}
		x = w.runIs(works.ID, exec.Cancelled)
		if p := w.promptOf(x); p.State != thread.PromptInterrupted || x.Reason != "enough" {
			t.Errorf("its prompt is %s; %q", p.State, x.Reason)
		}
		if s := w.status(works.ID); s.Execution != nil || s.Group() != thread.GroupQuiet {
			t.Errorf("the thread: %+v in %s", s.State, s.Group())
		}
		if open, _ := w.store.OpenExecutions(ctx); len(open) != 0 {
			t.Errorf("processes with an open row: %v", open)
		}
		done := w.once("done")
		w.finish(done.ID, "done")
		if _, err := w.m.Executions.Cancel(ctx, w.execution(done.ID).ID, "too late"); !errors.Is(err, thread.ErrNotRunning) {
			t.Errorf("cancelled one that is completed: %v", err)
		}
		w.runIs(done.ID, exec.Completed)
	}, withRuns, func(w *world) { w.cfg.Runs.Limits.All = 1 })
}

// TestRunDeadline: a run whose time is over has failed, and its process is gone.
func TestRunDeadline(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("slow", func(r *thread.NewRequest) { r.Once.Deadline = 3 * time.Minute })
		time.Sleep(3*time.Minute - time.Second)
		w.runIs(s.ID, exec.Running)
		time.Sleep(2 * time.Second)
		if x := w.runIs(s.ID, exec.Failed); x.Reason != "its time of 3m was over; give it more with --deadline or runs.deadline" {
			t.Errorf("failed because %q", x.Reason)
		}
		if s := w.status(s.ID); s.Execution != nil || s.Group() != thread.GroupNeedsYou {
			t.Errorf("the thread is in %s", s.Group())
		}
	}, withRuns)
}

// TestRunEnds: how a process ended is what it said, not its code.
func TestRunEnds(t *testing.T) {
	for name, c := range map[string]struct {
		said *thread.RunEvent
		code int
		want exec.State
	}{
		"silent, 0":  {nil, 0, exec.Failed},
		"failed, 0":  {&thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunFailed, Reason: "no credits"}, 0, exec.Failed},
		"killed":     {&thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunFailed, Gone: true}, 137, exec.Lost},
		"pushed":     {&thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunFailed, Reason: "no credits"}, 143, exec.Failed},
		"done, 143":  {&thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunCompleted}, 143, exec.Completed},
		"cancelled ": {&thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunCancelled}, 0, exec.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.once("x")
				p := w.sess.of(s.ID)
				if c.said != nil {
					p.spec.OnRun(*c.said)
				}
				p.exit(c.code)
				x := w.runIs(s.ID, c.want)
				if p := w.promptOf(x); !p.State.Over() {
					t.Errorf("its prompt is %s", p.State)
				}
			}, withRuns)
		})
	}
}

// TestRunLost: a server that dies loses what it ran, and the next one does what the thread's policy says; what waited
// goes on, and what was answered has completed.
func TestRunLost(t *testing.T) {
	for policy, want := range map[exec.Policy]exec.State{
		exec.PolicyAsk: exec.Lost, exec.PolicyFail: exec.Failed, exec.PolicyRetry: exec.Running, exec.PolicyResume: exec.Running,
	} {
		t.Run(string(policy), func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.once("long", func(r *thread.NewRequest) { r.Once.Lost = string(policy) })
				w.respond(s.ID, "long", "call", false)
				waits := w.once("waits", func(r *thread.NewRequest) { r.InPlace = true })
				w.runIs(waits.ID, exec.Queued)
				w.crash()
				synctest.Wait()
				if want == exec.Running && w.execution(waits.ID).State == exec.Running { // it was quicker
					w.finish(waits.ID, "waits")
				}
				x := w.execution(s.ID)
				if x.State != want {
					t.Fatalf("%s (%s), want %s", x.State, x.Reason, want)
				}
				switch policy {
				case exec.PolicyRetry, exec.PolicyResume:
					asked := w.sess.of(s.ID).prompts()
					if (policy == exec.PolicyRetry) != (asked == "long") || x.Attempt != 2 {
						t.Errorf("attempt %d was asked %q", x.Attempt, asked)
					}
				default:
					w.runIs(waits.ID, exec.Running)
					if w.sess.of(s.ID) != nil {
						t.Error("it was started again")
					}
					if g := w.status(s.ID).Group(); g != thread.GroupNeedsYou {
						t.Errorf("it is in %s", g)
					}
				}
				if x.Usage.CostUSD != 0.25 {
					t.Errorf("it cost %v so far", x.Usage.CostUSD)
				}
			}, withRuns, func(w *world) { w.cfg.Runs.Limits.All = 1 })
		})
	}
}

// TestRunAnsweredBeforeCrash: what was answered before the server died has completed, and is not done again.
func TestRunAnsweredBeforeCrash(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("quick", func(r *thread.NewRequest) { r.Once.Lost = string(exec.PolicyRetry) })
		w.turn(s.ID, "quick")
		w.sess.of(s.ID).spec.OnRun(thread.RunEvent{Kind: thread.RunText, Text: "the answer"})
		w.sess.of(s.ID).spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunCompleted})
		synctest.Wait()
		w.crash()
		if x := w.runIs(s.ID, exec.Completed); x.Usage.CostUSD != 0.5 || x.Answer != "the answer" || w.sess.of(s.ID) != nil {
			t.Errorf("%+v", x)
		}
	}, withRuns)
}

// TestTakeOver: a person opens a thread that runs without a terminal in one; while it is open prompts are typed into it,
// and afterwards they are runs again.
func TestTakeOver(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		s := w.once("one")
		if _, err := w.m.Agents.Start(ctx, string(s.ID), 80, 24); !errors.Is(err, thread.ErrBusy) {
			t.Fatalf("opened while it works: %v", err)
		}
		w.finish(s.ID, "one")
		if _, err := w.m.Agents.Start(ctx, string(s.ID), 80, 24); err != nil {
			t.Fatal(err)
		}
		p := w.sess.of(s.ID)
		if p.spec.Dialogue != nil || !slices.Contains(p.spec.Launch.Args, "--resume") {
			t.Errorf("started with %v", p.spec.Launch.Args)
		}
		p.Report(thread.Evidence{State: thread.StateIdle, At: time.Now()})
		if _, err := w.m.Prompts.Ask(ctx, string(s.ID), thread.AskRequest{Text: "two"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if p.prompts() != "two" {
			t.Errorf("typed %q", p.prompts())
		}
		w.turn(s.ID, "two")
		p.Report(thread.Evidence{State: thread.StateWorking, At: time.Now()})
		if _, err := w.m.Prompts.Ask(ctx, string(s.ID), thread.AskRequest{Text: "three"}); err != nil {
			t.Fatal(err)
		}
		w.runIs(s.ID, exec.Completed) // still its first one
		if err := w.m.Agents.Stop(ctx, string(s.ID)); err != nil {
			t.Fatal(err)
		}
		x := w.runIs(s.ID, exec.Running)
		if p = w.sess.of(s.ID); p.spec.Dialogue == nil || p.prompts() != "three" || x.Name != "exec-002" {
			t.Errorf("%s was asked %q", x.Name, p.prompts())
		}
		w.finish(s.ID, "three")
		w.runIs(s.ID, exec.Completed)
	}, withRuns)
}

// TestNoRun: what cannot be run is refused, and leaves nothing.
func TestNoRun(t *testing.T) {
	inWorld(t, func(w *world) {
		for name, r := range map[string]thread.NewRequest{
			"agent":    {Agent: "plain", Prompt: "x"},
			"prompt":   {Agent: "claude", Prompt: " "},
			"policy":   {Agent: "claude", Prompt: "x", Once: thread.Once{Lost: "maybe"}},
			"disposal": {Agent: "claude", Prompt: "x", Once: thread.Once{Dispose: "burn"}},
			"deadline": {Agent: "claude", Prompt: "x", Once: thread.Once{Deadline: -1}},
			"name":     {Agent: "claude", Prompt: "x", Execution: "exec-007"},
		} {
			r.Once.On = true
			if _, err := w.m.Creation.New(context.Background(), r); !errors.Is(err, thread.ErrInvalid) && !errors.Is(err, thread.ErrUnsupported) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if list, _ := w.m.Threads.List(context.Background()); len(list) != 0 || w.m.Executions.Pending() {
			t.Errorf("left: %v", list)
		}
	}, withRuns)
}

// TestRunsOfDeleted: what waits of a thread that is deleted or archived is cancelled, and what works ends; of a purged one
// no execution is left. A thread whose runs are over takes nobody's folder.
func TestRunsOfDeleted(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		s := w.once("one")
		if _, err := w.m.Prompts.Ask(ctx, string(s.ID), thread.AskRequest{Text: "two"}); err != nil {
			t.Fatal(err)
		}
		if err := w.m.Lifecycle.Delete(ctx, string(s.ID)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		list, _ := w.m.Executions.List(ctx, exec.Query{Thread: s.ID})
		for _, x := range list {
			if !x.State.Final() {
				t.Errorf("%s is %s", x.Name, x.State)
			}
		}
		if len(list) != 2 || w.m.Executions.Pending() || w.sess.of(s.ID).spec.Dialogue == nil {
			t.Errorf("left: %v", list)
		}
		if err := w.m.Lifecycle.Discard(ctx, s.ID); err != nil {
			t.Fatal(err)
		}
		if list, _ = w.m.Executions.List(ctx, exec.Query{Thread: s.ID}); len(list) != 0 {
			t.Errorf("of the purged thread: %v", list)
		}
	}, withRuns)
}
