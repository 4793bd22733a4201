package manager_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// inDisposed runs a test in a world with worktrees, merges and runs.
func inDisposed(t *testing.T, test func(*world, *merges)) {
	t.Helper()
	f := &merges{}
	inWorld(t, func(w *world) { test(w, f) }, withRuns, func(w *world) {
		f.trees = w.trees
		w.cfg.Merges, w.cfg.Differ = f, f
	})
}

// disposed asks for a run in a worktree of its own.
func (w *world) disposed(how exec.Disposal) thread.Status {
	w.t.Helper()
	s := w.once("do it", func(r *thread.NewRequest) { r.Worktree, r.Once.Dispose = true, string(how) })
	w.runIs(s.ID, exec.Running)
	s = w.status(s.ID)
	w.trees.set(s.Worktree.Path, "done")
	return s
}

func gone(s thread.Status) bool {
	_, err := os.Lstat(s.Worktree.Path)
	return errors.Is(err, os.ErrNotExist)
}

// TestDispose: what becomes of a worktree follows how its execution has ended, and its rule.
func TestDispose(t *testing.T) {
	type ending = func(w *world, s thread.Status)
	finish := func(w *world, s thread.Status) { w.finish(s.ID, "do it") }
	fail := func(w *world, s thread.Status) { w.sess.of(s.ID).exit(1) }
	cancel := func(w *world, s thread.Status) {
		if _, err := w.m.Executions.Cancel(context.Background(), w.execution(s.ID).ID, "no"); err != nil {
			w.t.Error(err)
		}
	}
	lose := func(w *world, s thread.Status) { w.sess.of(s.ID).exit(137) }
	for name, tc := range map[string]struct {
		how  exec.Disposal
		end  ending
		gone bool
		log  string // what git did
	}{
		"keep":             {exec.DisposeKeep, finish, false, ""},
		"branch":           {exec.DisposeBranch, finish, true, "commit do it"},
		"branch, failed":   {exec.DisposeBranch, fail, true, "commit do it"},
		"branch, canceled": {exec.DisposeBranch, cancel, true, "commit do it"},
		"branch, lost":     {exec.DisposeBranch, lose, false, ""},
		"drop":             {exec.DisposeDrop, finish, true, ""},
		"drop, lost":       {exec.DisposeDrop, lose, false, ""},
		"merge":            {exec.DisposeMerge, finish, true, "commit do it merge orchestrator/ commit do it"},
		"merge, failed":    {exec.DisposeMerge, fail, false, ""},
		"merge, canceled":  {exec.DisposeMerge, cancel, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inDisposed(t, func(w *world, f *merges) {
				s := w.disposed(tc.how)
				tc.end(w, s)
				synctest.Wait()
				if gone(s) != tc.gone {
					t.Errorf("gone: %v", gone(s))
				}
				log := strings.ReplaceAll(strings.Join(f.log, " "), strings.TrimPrefix(s.Worktree.Branch, "orchestrator/"), "")
				if log != tc.log {
					t.Errorf("git: %q, want %q", log, tc.log)
				}
				if dropped := slices.Equal(w.trees.dropped, []string{s.Worktree.Branch}); dropped != (tc.how == exec.DisposeDrop && tc.gone) {
					t.Errorf("dropped: %q", w.trees.dropped)
				}
			})
		})
	}
}

// TestDisposedRunsAgain: the next run of a thread whose worktree was removed has it again, with its files.
func TestDisposedRunsAgain(t *testing.T) {
	inDisposed(t, func(w *world, f *merges) {
		s := w.disposed(exec.DisposeBranch)
		w.finish(s.ID, "do it")
		if !gone(s) {
			t.Fatal("it stays")
		}
		if _, err := w.m.Prompts.Ask(context.Background(), string(s.ID), thread.AskRequest{Text: "more"}); err != nil {
			t.Fatal(err)
		}
		w.runIs(s.ID, exec.Running)
		if got := w.trees.get(s.Worktree.Path); got != "done" || gone(s) {
			t.Errorf("it has %q", got)
		}
		w.finish(s.ID, "more")
		if !gone(s) {
			t.Error("it stays")
		}
	})
}

// TestDisposeWaits: while the next one waits or works, the worktree stays.
func TestDisposeWaits(t *testing.T) {
	inDisposed(t, func(w *world, f *merges) {
		s := w.disposed(exec.DisposeDrop)
		if _, err := w.m.Prompts.Ask(context.Background(), string(s.ID), thread.AskRequest{Text: "more"}); err != nil {
			t.Fatal(err)
		}
		w.finish(s.ID, "do it")
		w.runIs(s.ID, exec.Running)
		if gone(s) {
			t.Fatal("the worktree of a run at work is gone")
		}
		w.finish(s.ID, "more")
		if !gone(s) {
			t.Error("it stays")
		}
	})
}

// TestDisposeConflicts: what does not merge by itself is left to the person, and nothing is changed.
func TestDisposeConflicts(t *testing.T) {
	inDisposed(t, func(w *world, f *merges) {
		f.conflicts = []string{"login.go"}
		s := w.disposed(exec.DisposeMerge)
		w.finish(s.ID, "do it")
		synctest.Wait()
		if gone(s) || f.open || slices.ContainsFunc(f.log, func(l string) bool { return strings.HasPrefix(l, "merge") }) {
			t.Errorf("gone %v, a merge waits %v, git: %q", gone(s), f.open, f.log)
		}
	})
}

// TestDisposeAfterCrash: what had begun to be removed is removed by the next server, and nothing else is: somebody may
// have worked in it since.
func TestDisposeAfterCrash(t *testing.T) {
	for _, how := range []exec.Disposal{exec.DisposeBranch, exec.DisposeMerge, exec.DisposeDrop} {
		t.Run(string(how), func(t *testing.T) {
			inDisposed(t, func(w *world, f *merges) {
				s := w.disposed(how)
				w.trees.fails(errors.New("no disk"))
				w.finish(s.ID, "do it")
				if gone(s) {
					t.Fatal("it was removed, although its files could not be kept")
				}
				w.trees.fails(nil)
				f.log = nil
				w.crash()
				synctest.Wait()
				if gone(s) || len(f.log) > 0 || len(w.trees.dropped) > 0 {
					t.Fatalf("it is gone: %v; git: %q, dropped %q", gone(s), f.log, w.trees.dropped)
				}
				err := w.store.PutIntent(context.Background(), thread.Intent{
					ID: "i", Kind: "dispose", Thread: s.ID, Data: []byte(`{"execution":"` + string(w.execution(s.ID).ID) + `"}`),
				})
				if err != nil {
					t.Fatal(err)
				}
				w.crash()
				synctest.Wait()
				if !gone(s) || (len(w.trees.dropped) > 0) != (how == exec.DisposeDrop) {
					t.Errorf("gone: %v, dropped %q", gone(s), w.trees.dropped)
				}
				if left, err := w.store.Intents(context.Background()); err != nil || len(left) > 0 {
					t.Errorf("%+v %v", left, err)
				}
			})
		})
	}
}

// TestDisposeSparesAPerson: a worktree that was opened in a terminal after its run is not disposed of any more, by
// this server or the next.
func TestDisposeSparesAPerson(t *testing.T) {
	for _, how := range []exec.Disposal{exec.DisposeBranch, exec.DisposeMerge, exec.DisposeDrop} {
		t.Run(string(how), func(t *testing.T) {
			inDisposed(t, func(w *world, f *merges) {
				s := w.disposed(how)
				w.finish(s.ID, "do it")
				if !gone(s) {
					t.Fatal("it stays")
				}
				w.trees.dropped = nil
				w.start(s.ID)
				w.trees.set(s.Worktree.Path, "a person's")
				w.sess.of(s.ID).exit(0)
				synctest.Wait()
				f.log = nil
				w.crash()
				synctest.Wait()
				if gone(s) || len(f.log) > 0 || len(w.trees.dropped) > 0 || w.trees.get(s.Worktree.Path) != "a person's" {
					t.Errorf("gone: %v, git: %q, dropped %q", gone(s), f.log, w.trees.dropped)
				}
			})
		})
	}
}

func fatal(w *world, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestDisposeOfNothing: the end of what never ran, and of a thread that is archived or deleted, removes nothing.
func TestDisposeOfNothing(t *testing.T) {
	ctx := context.Background()
	for name, do := range map[string]func(*world, thread.Status){
		"archived": func(w *world, s thread.Status) { fatal(w, w.m.Lifecycle.Archive(ctx, s.Name)) },
		"deleted":  func(w *world, s thread.Status) { fatal(w, w.m.Lifecycle.Delete(ctx, s.Name)) },
		"never ran": func(w *world, s thread.Status) {
			w.sess.of(s.ID).exit(137)
			w.runIs(s.ID, exec.Lost)
			_, err := w.m.Executions.SetQueue(ctx, exec.QueueChange{Pause: true})
			fatal(w, err)
			if _, err := w.m.Prompts.Ask(ctx, string(s.ID), thread.AskRequest{Text: "more"}); err != nil {
				w.t.Error(err)
			}
			w.runIs(s.ID, exec.Queued)
			_, err = w.m.Executions.Cancel(ctx, w.execution(s.ID).ID, "no")
			fatal(w, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inDisposed(t, func(w *world, f *merges) {
				s := w.disposed(exec.DisposeDrop)
				do(w, s)
				synctest.Wait()
				if gone(s) || len(w.trees.dropped) > 0 {
					t.Errorf("gone: %v, dropped %q", gone(s), w.trees.dropped)
				}
			})
		})
	}
}

// TestDisposeOffItsBranch: what an agent did elsewhere than on the thread's branch is left to the person.
func TestDisposeOffItsBranch(t *testing.T) {
	for name, on := range map[string]string{"detached": "", "another branch": "feature"} {
		for _, how := range []exec.Disposal{exec.DisposeBranch, exec.DisposeMerge} {
			t.Run(name+", "+string(how), func(t *testing.T) {
				inDisposed(t, func(w *world, f *merges) {
					s := w.disposed(how)
					f.on = map[string]string{s.Worktree.Path: on}
					w.finish(s.ID, "do it")
					if gone(s) || len(f.log) > 0 {
						t.Errorf("gone: %v, git: %q", gone(s), f.log)
					}
				})
			})
		}
	}
}

// TestDisposeAgain: what was in the way for a moment only is tried again.
func TestDisposeAgain(t *testing.T) {
	inDisposed(t, func(w *world, f *merges) {
		s := w.disposed(exec.DisposeBranch)
		w.trees.fails(thread.ErrDiskFull)
		w.finish(s.ID, "do it")
		if gone(s) {
			t.Fatal("it was removed, although its files could not be kept")
		}
		w.trees.fails(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if !gone(s) {
			t.Error("it stays")
		}
	})
}

// TestDisposeMergeInTheWay: nothing is merged into a thread that is at work, or whose work is not committed.
func TestDisposeMergeInTheWay(t *testing.T) {
	for name, tc := range map[string]struct {
		works, dirty, merged bool
	}{
		"at rest":     {false, false, true},
		"at work":     {true, false, false},
		"uncommitted": {false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			inDisposed(t, func(w *world, f *merges) {
				parent := w.create(thread.NewRequest{Agent: "claude", Worktree: true})
				w.talk(parent.ID, 1, 1)
				made, err := w.m.Forks.Fork(context.Background(), thread.ForkRequest{
					Thread: parent.Name, Prompt: "do it", Once: thread.Once{On: true, Dispose: string(exec.DisposeMerge)},
				})
				fatal(w, err)
				s := made
				w.runIs(s.ID, exec.Running)
				f.clean = !tc.dirty
				if tc.works {
					w.respond(parent.ID, "more", "call", false)
				}
				w.finish(s.ID, "do it")
				if gone(s) != tc.merged {
					t.Errorf("gone: %v, git: %q", gone(s), f.log)
				}
			})
		})
	}
}

// TestDisposedIsUsed: what is done with a run's work brings its worktree back, which stays then.
func TestDisposedIsUsed(t *testing.T) {
	ctx := context.Background()
	for name, do := range map[string]func(w *world, s thread.Status) error{
		"dry run": func(w *world, s thread.Status) error {
			_, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: s.Name, DryRun: true})
			return err
		},
		"merge": func(w *world, s thread.Status) error {
			_, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: s.Name})
			return err
		},
		"restore": func(w *world, s thread.Status) error {
			_, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: s.Name, Files: true, At: "1"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			inDisposed(t, func(w *world, f *merges) {
				s := w.disposed(exec.DisposeBranch)
				w.finish(s.ID, "do it")
				if !gone(s) {
					t.Fatal("it stays")
				}
				if err := do(w, s); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				if gone(s) || w.trees.get(s.Worktree.Path) != "done" {
					t.Errorf("gone: %v, it has %q", gone(s), w.trees.get(s.Worktree.Path))
				}
				w.restart()
				if gone(s) {
					t.Error("it is gone after a restart")
				}
			})
		})
	}
}

// TestDisposedBranchMoved: a thread whose branch the person has moved says how it goes on.
func TestDisposedBranchMoved(t *testing.T) {
	inDisposed(t, func(w *world, f *merges) {
		s := w.disposed(exec.DisposeBranch)
		w.finish(s.ID, "do it")
		w.trees.moved = true
		_, err := w.m.Agents.Start(context.Background(), string(s.ID), 0, 0)
		if err == nil || !strings.Contains(fmt.Sprint(err), "git branch -m "+s.Worktree.Branch) {
			t.Errorf("%v", err)
		}
	})
}

// TestStartWaitsForMerge: while a run's work is merged, its agent is not started: by nobody, and not by the queue.
func TestStartWaitsForMerge(t *testing.T) {
	inDisposed(t, func(w *world, f *merges) {
		ctx := context.Background()
		s := w.disposed(exec.DisposeKeep)
		w.finish(s.ID, "do it")
		goOn, in := make(chan struct{}), make(chan struct{})
		f.merging = func() { close(in); <-goOn }
		merged := make(chan error, 1)
		go func() {
			_, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: s.Name})
			merged <- err
		}()
		<-in
		if _, err := w.m.Agents.Start(ctx, string(s.ID), 0, 0); !errors.Is(err, thread.ErrBusy) {
			t.Errorf("start: %v", err)
		}
		if _, err := w.m.Prompts.Ask(ctx, string(s.ID), thread.AskRequest{Text: "more"}); err != nil {
			t.Fatal(err)
		}
		w.runIs(s.ID, exec.Queued)
		close(goOn)
		fatal(w, <-merged)
		w.runIs(s.ID, exec.Running)
	})
}
