package manager_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"orchestrator/thread"
)

// fakeSetup is a SetupRunner whose setup ends when the test says so.
type fakeSetup struct {
	hang bool
	err  error

	undone error

	mu    sync.Mutex // guards what follows
	ran   []string
	ended []string
}

func (f *fakeSetup) SetUp(ctx context.Context, t thread.Thread, _ func(thread.Level, string)) error {
	f.mu.Lock()
	f.ran = append(f.ran, t.Worktree.Path)
	f.mu.Unlock()
	if f.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return f.err
}

func (f *fakeSetup) TearDown(context.Context, thread.Thread, func(thread.Level, string)) error {
	return f.undone
}

func (f *fakeSetup) StopSetup(t thread.Thread) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = append(f.ended, t.Name)
	return 2
}

// TestSetupIsCutOff: a setup that the end of the server cut off is named by everything that shows the thread, until it
// is run again, which it never is by itself.
func TestSetupIsCutOff(t *testing.T) {
	for name, end := range map[string]func(w *world){
		"kill": (*world).crash,
		"stop": func(w *world) { w.close(); w.open() },
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeSetup{hang: true}
			inWorld(t, func(w *world) {
				p := w.create(thread.NewRequest{Name: "parent"})
				w.talk(p.ID, 1, 1)
				go w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: "parent", Name: "child"}) //nolint:errcheck // it is cut off
				synctest.Wait()
				s, err := w.m.Threads.Status(ctx, "child")
				if err != nil || s.Setup.State != thread.SetupRuns {
					t.Fatalf("while it runs: %+v, %v", s.Setup, err)
				}
				if _, err := w.m.Agents.Start(ctx, "child", 80, 24); !errors.Is(err, thread.ErrBusy) {
					t.Errorf("an agent starts in a worktree that is being set up: %v", err)
				}
				if _, err := w.m.Lifecycle.SetUp(ctx, "child"); !errors.Is(err, thread.ErrBusy) {
					t.Errorf("a setup runs twice at once: %v", err)
				}
				end(w)
				again := "run it again with `orchestrator setup " + s.Name + "`"
				if s, err = w.m.Threads.Status(ctx, "child"); err != nil || s.Setup.State != thread.SetupUnfinished || !strings.Contains(s.SetupProblem(), again) {
					t.Errorf("after the restart: %+v %q, %v", s.Setup, s.SetupProblem(), err)
				}
				if said := w.events.notices(); !strings.Contains(said, again) || !strings.Contains(said, "2 of its processes") {
					t.Errorf("the start says %q", said)
				}
				if r, err := w.m.Threads.Why(ctx, "child"); err != nil || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], again) {
					t.Errorf("why says %v, %v", r.Notes, err)
				}
				f.hang = false
				if _, err := w.m.Agents.Start(ctx, "child", 80, 24); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if len(f.ran) != 1 || w.status(s.ID).Setup.State != thread.SetupUnfinished {
					t.Errorf("it ran by itself: %v, %+v", f.ran, w.status(s.ID).Setup)
				}
				if s, err = w.m.Lifecycle.SetUp(ctx, "child"); err != nil || s.Setup != (thread.Setup{}) || len(f.ran) != 2 {
					t.Errorf("run again: %+v, %v, %v", s.Setup, err, f.ran)
				}
				w.crash()
				if s = w.status(s.ID); s.SetupProblem() != "" {
					t.Errorf("after it ran again: %q", s.SetupProblem())
				}
			}, func(w *world) { w.cfg.Setup = f })
		})
	}
}

// TestSetupThatFailed: one that failed is named as well, and a worktree that is made again is set up again.
func TestSetupThatFailed(t *testing.T) {
	f := &fakeSetup{err: errors.New("it failed: exit status 3; key sk-ant-api03-" + strings.Repeat("x", 93) + "AA")}
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Name: "parent"})
		w.talk(p.ID, 1, 1)
		c := w.fork(thread.ForkRequest{Thread: "parent", Name: "child"})
		if c.Setup.State != thread.SetupFailed || !strings.Contains(c.SetupProblem(), "exit status 3") || strings.Contains(c.SetupProblem(), "xxxx") {
			t.Errorf("it says %q", c.SetupProblem())
		}
		if c.Execution == nil {
			t.Error("its agent did not start")
		}
		w.crash()
		if c = w.status(c.ID); c.Setup.State != thread.SetupFailed {
			t.Errorf("after a restart: %+v", c.Setup)
		}
		if _, err := w.m.Lifecycle.SetUp(ctx, "child"); err == nil {
			t.Error("a setup that fails says that it did not")
		}
		f.err = nil
		if s, err := w.m.Lifecycle.SetUp(ctx, "child"); err != nil || s.Setup != (thread.Setup{}) {
			t.Errorf("run again: %+v, %v", s.Setup, err)
		}
		if _, err := w.m.Lifecycle.SetUp(ctx, "parent"); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("a thread without a worktree is set up: %v", err)
		}
	}, func(w *world) { w.cfg.Setup = f })
}
