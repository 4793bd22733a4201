package manager_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// shaky is a store of executions that fails, or whose answers are lost, as a test wants.
type shaky struct {
	exec.Store
	mu     sync.Mutex // guards the fields
	before func(op string) error
	after  func(op string) error
}

func (s *shaky) set(before, after func(op string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.after = before, after
}

func (s *shaky) do(op string, write func() (exec.Execution, error)) (exec.Execution, error) {
	s.mu.Lock()
	before, after := s.before, s.after
	s.mu.Unlock()
	if before != nil {
		if err := before(op); err != nil {
			return exec.Execution{}, err
		}
	}
	x, err := write()
	if after != nil && err == nil {
		if err := after(op); err != nil {
			return exec.Execution{}, err
		}
	}
	return x, err
}

func (s *shaky) Add(ctx context.Context, x exec.Execution, events ...exec.Event) (exec.Execution, error) {
	return s.do("add", func() (exec.Execution, error) { return s.Store.Add(ctx, x, events...) })
}

func (s *shaky) Claim(ctx context.Context, id exec.ID, server string, at time.Time) (exec.Execution, error) {
	return s.do("claim", func() (exec.Execution, error) { return s.Store.Claim(ctx, id, server, at) })
}

func (s *shaky) Change(
	ctx context.Context, id exec.ID, fence int64, change func(*exec.Execution) error, events ...exec.Event,
) (exec.Execution, error) {
	return s.do("change", func() (exec.Execution, error) { return s.Store.Change(ctx, id, fence, change, events...) })
}

func (s *shaky) Supersede(
	ctx context.Context, id exec.ID, change func(*exec.Execution) error, events ...exec.Event,
) (exec.Execution, error) {
	return s.do("supersede", func() (exec.Execution, error) { return s.Store.Supersede(ctx, id, change, events...) })
}

// withShaky is withRuns over a store that can fail.
func withShaky(w *world) {
	withRuns(w)
	w.cfg.Runs.Store = &shaky{Store: w.cfg.Runs.Store}
}

func (w *world) shaky() *shaky { return w.cfg.Runs.Store.(*shaky) }

// TestCancelWhileItStarts: a run that is cancelled between its claim and its process has none, and does not run after a
// restart either.
func TestCancelWhileItStarts(t *testing.T) {
	for _, at := range []string{"claimed", "process"} {
		t.Run(at, func(t *testing.T) {
			inWorld(t, func(w *world) {
				cancel := func() {
					list, _ := w.m.Executions.List(context.Background(), exec.Query{})
					if _, err := w.m.Executions.Cancel(context.Background(), list[0].ID, "not now"); err != nil {
						t.Error(err)
					}
				}
				if at == "claimed" { // by somebody else
					w.shaky().set(nil, func(op string) error {
						if op != "claim" {
							return nil
						}
						list, _ := w.m.Executions.List(context.Background(), exec.Query{})
						_, err := w.shaky().Store.Supersede(context.Background(), list[0].ID, func(x *exec.Execution) error {
							x.State, x.Reason = exec.Cancelled, "not now"
							return nil
						})
						return err
					})
				} else {
					w.sess.started = func(thread.SessionSpec) { cancel() }
				}
				s := w.once("never")
				x := w.runIs(s.ID, exec.Cancelled)
				if p := w.promptOf(x); !p.State.Over() {
					t.Errorf("its prompt is %s", p.State)
				}
				if p := w.sess.of(s.ID); p != nil && (p.prompts() != "" || w.status(s.ID).Execution != nil) {
					t.Errorf("it was asked %q, %v, %+v", p.prompts(), w.status(s.ID).Execution, x)
				}
				w.sess.started = nil
				w.close()
				w.open()
				if list, _ := w.m.Executions.List(context.Background(), exec.Query{}); len(list) != 1 || w.m.Executions.Pending() {
					t.Errorf("after a restart: %+v", list)
				}
			}, withShaky)
		})
	}
}

// TestCancelCutOff: a crash between the row of a cancelled run and its prompt does not have it run again.
func TestCancelCutOff(t *testing.T) {
	inWorld(t, func(w *world) {
		first := w.once("first")
		s := w.once("never", func(r *thread.NewRequest) { r.InPlace = true })
		x := w.runIs(s.ID, exec.Queued)
		end := func(x *exec.Execution) error { x.State, x.Reason = exec.Cancelled, "not now"; return nil }
		if _, err := w.cfg.Runs.Store.Supersede(context.Background(), x.ID, end); err != nil { // and then the server dies
			t.Fatal(err)
		}
		w.crash()
		x = w.runIs(s.ID, exec.Cancelled)
		if p := w.promptOf(x); p.State != thread.PromptCancelled {
			t.Errorf("its prompt is %s", p.State)
		}
		if list, _ := w.m.Executions.List(context.Background(), exec.Query{}); len(list) != 2 {
			t.Errorf("%+v", list)
		}
		w.runIs(first.ID, exec.Lost)
	}, withShaky, func(w *world) { w.cfg.Runs.Limits.All = 1 })
}

// TestCancelOnFullDisk: the process of a run that is cancelled ends also while the store refuses the row, which is stored
// once it does not.
func TestCancelOnFullDisk(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("fills the disk")
		x := w.runIs(s.ID, exec.Running)
		w.shaky().set(func(string) error { return thread.ErrDiskFull }, nil)
		if _, err := w.m.Executions.Cancel(context.Background(), x.ID, "enough"); !errors.Is(err, thread.ErrDiskFull) {
			t.Errorf("cancel: %v", err)
		}
		synctest.Wait()
		if w.status(s.ID).Execution != nil {
			t.Error("its process goes on")
		}
		w.shaky().set(nil, nil)
		time.Sleep(time.Minute)
		if x := w.runIs(s.ID, exec.Cancelled); x.Reason != "enough" {
			t.Errorf("cancelled because %q", x.Reason)
		}
	}, withShaky)
}

// TestStartAtTheEnd: who opens a terminal at the moment that a run ends finds its end recorded.
func TestStartAtTheEnd(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("one")
		w.turn(s.ID, "one")
		w.m.Traffic.RequestStarted(s.ID, thread.Begun{Main: true, Model: "m1", At: time.Now()}) // whose end is not told
		p := w.sess.of(s.ID)
		p.spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunCompleted})
		go p.exit(0)
		for { // as soon as it is no longer busy
			_, err := w.m.Agents.Start(context.Background(), string(s.ID), 80, 24)
			if err == nil {
				break
			}
			if !errors.Is(err, thread.ErrBusy) {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		x := w.runIs(s.ID, exec.Completed)
		open, _ := w.store.OpenExecutions(context.Background())
		if len(open) != 1 || open[0].ID == x.Process {
			t.Errorf("open rows of processes: %+v", open)
		}
		time.Sleep(time.Hour) // past its deadline
		w.runIs(s.ID, exec.Completed)
	}, withRuns)
}

// TestCountedOnce: what an attempt used is counted once, also if the answer of the store is lost.
func TestCountedOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("one")
		w.runIs(s.ID, exec.Running)
		lost := 3
		w.shaky().set(nil, func(string) error {
			if lost--; lost < 0 {
				return nil
			}
			return thread.ErrUnreachable
		})
		w.finish(s.ID, "one")
		time.Sleep(time.Minute)
		x := w.runIs(s.ID, exec.Completed)
		if x.Usage.CostUSD != 0.5 || x.Usage.Output != 10 {
			t.Errorf("it used %+v", x.Usage)
		}
		events, _ := w.m.Executions.Events(context.Background(), x.ID, 0, 100)
		ends := slices.DeleteFunc(events, func(e exec.Event) bool { return e.Kind != "end" })
		if len(ends) != 1 {
			t.Errorf("its end is recorded %d times", len(ends))
		}
	}, withShaky)
}

// TestWaitsForTerminal: a run that waits for a terminal to close starts when it does, and what was asked again while a run
// worked is a run.
func TestWaitsForTerminal(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		s := w.once("one")
		failed := w.runIs(s.ID, exec.Running)
		w.sess.of(s.ID).exit(1)
		w.runIs(s.ID, exec.Failed)
		if _, err := w.m.Prompts.Ask(ctx, string(s.ID), thread.AskRequest{Text: "two"}); err != nil {
			t.Fatal(err)
		}
		w.runIs(s.ID, exec.Running)
		if _, err := w.m.Prompts.Again(ctx, failed.Prompt, ""); err != nil {
			t.Fatal(err)
		}
		if x := w.runIs(s.ID, exec.Queued); x.Name != "exec-003" {
			t.Errorf("asked again as %s", x.Name)
		}
		if _, err := w.m.Executions.SetQueue(ctx, exec.QueueChange{Pause: true}); err != nil {
			t.Fatal(err)
		}
		w.finish(s.ID, "two")
		if _, err := w.m.Agents.Start(ctx, string(s.ID), 80, 24); err != nil {
			t.Fatal(err)
		}
		if _, err := w.m.Executions.SetQueue(ctx, exec.QueueChange{Resume: true}); err != nil {
			t.Fatal(err)
		}
		if x := w.runIs(s.ID, exec.Queued); x.Reason != "it is open in a terminal" || w.sess.of(s.ID).prompts() != "" {
			t.Errorf("waits because %q; typed %q", x.Reason, w.sess.of(s.ID).prompts())
		}
		w.sess.of(s.ID).exit(0) // the person leaves it
		w.runIs(s.ID, exec.Running)
		if got := w.sess.of(s.ID).prompts(); got != "one" {
			t.Errorf("asked %q", got)
		}
	}, withRuns)
}

// TestLossThatIsNotWritten: the prompt of a next attempt that is not written, because the run was cancelled meanwhile, is
// not run by anybody.
func TestLossThatIsNotWritten(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("one", func(r *thread.NewRequest) { r.Once.Lost = string(exec.PolicyRetry) })
		x := w.runIs(s.ID, exec.Running)
		w.shaky().set(func(op string) error { // the end: somebody cancels it before that is written
			if op != "change" {
				return nil
			}
			w.shaky().set(nil, nil)
			_, err := w.shaky().Store.Supersede(context.Background(), x.ID, func(x *exec.Execution) error {
				x.State, x.Reason = exec.Cancelled, "enough"
				return nil
			})
			return err
		}, nil)
		p := w.sess.of(s.ID)
		p.spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunFailed, Gone: true})
		p.exit(137)
		x = w.runIs(s.ID, exec.Cancelled)
		left, _ := w.m.Prompts.List(context.Background(), string(s.ID), true)
		if len(left) != 0 {
			t.Errorf("left: %+v", left)
		}
		w.close()
		w.open()
		w.runIs(s.ID, exec.Cancelled)
		if list, _ := w.m.Executions.List(context.Background(), exec.Query{}); len(list) != 1 || list[0].Usage != x.Usage {
			t.Errorf("%+v", list)
		}
	}, withShaky)
}

// TestRecoveryIsTriedAgain: while the store refuses what became of a run, it is tried again, and what waits of a thread
// that was deleted is cancelled.
func TestRecoveryIsTriedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("one")
		if _, err := w.m.Prompts.Ask(context.Background(), string(s.ID), thread.AskRequest{Text: "two"}); err != nil {
			t.Fatal(err)
		}
		w.shaky().set(func(string) error { return thread.ErrUnreachable }, nil)
		w.crash()
		w.runIs(s.ID, exec.Queued)
		w.shaky().set(nil, nil)
		time.Sleep(time.Minute)
		list, _ := w.m.Executions.List(context.Background(), exec.Query{Thread: s.ID})
		if list[1].State != exec.Lost || list[0].State != exec.Running {
			t.Errorf("%s and %s", list[1].State, list[0].State)
		}
	}, withShaky)
}

// TestOrphans: what waits of threads that are deleted or gone ends with the next start.
func TestOrphans(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		w.once("works")
		for _, gone := range []bool{false, true} {
			s := w.once("waits", func(r *thread.NewRequest) { r.InPlace = true })
			w.runIs(s.ID, exec.Queued)
			_, err := w.store.UpdateThread(ctx, s.ID, func(t *thread.Thread) error { t.Deleted = time.Now(); return nil })
			if err == nil && gone {
				err = w.store.PurgeThread(ctx, s.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		w.crash()
		synctest.Wait()
		list, _ := w.m.Executions.List(ctx, exec.Query{})
		for _, x := range list[:2] {
			if x.State != exec.Cancelled {
				t.Errorf("%s is %s (%s)", x.Name, x.State, x.Reason)
			}
		}
		if w.m.Executions.Pending() {
			t.Error("the server is held up")
		}
	}, withRuns, func(w *world) { w.cfg.Runs.Limits.All = 1 })
}

// TestRunsShownAfterRestart: each thread that runs without a terminal is listed with its newest execution after a restart.
func TestRunsShownAfterRestart(t *testing.T) {
	inWorld(t, func(w *world) {
		var ids []thread.ID
		for range 3 {
			s := w.once("one", func(r *thread.NewRequest) { r.InPlace = true })
			w.finish(s.ID, "one")
			ids = append(ids, s.ID)
		}
		if _, err := w.m.Prompts.Ask(context.Background(), string(ids[0]), thread.AskRequest{Text: "two"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.finish(ids[0], "two")
		w.close()
		w.open()
		for i, want := range []string{"exec-004", "exec-002", "exec-003"} {
			if s := w.status(ids[i]); s.Run == nil || s.Run.Execution != want || s.Group() != thread.GroupToRead {
				t.Errorf("listed as %+v in %s, want %s", s.Run, s.Group(), want)
			}
		}
	}, withRuns)
}

// TestWokenRun: a thread that runs without a terminal has its newest execution also when it comes back from the archive.
func TestWokenRun(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		s := w.once("one")
		w.finish(s.ID, "one")
		if err := w.m.Lifecycle.Archive(ctx, string(s.ID)); err != nil {
			t.Fatal(err)
		}
		w.close()
		w.open()
		if err := w.m.Lifecycle.Unarchive(ctx, string(s.ID)); err != nil {
			t.Fatal(err)
		}
		if s = w.status(s.ID); s.Run == nil || s.Run.State != string(exec.Completed) {
			t.Errorf("listed as %+v", s.Run)
		}
	}, withRuns)
}
