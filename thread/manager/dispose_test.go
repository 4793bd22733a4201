package manager_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// inDisposed runs a test in a world with worktrees, merges and runs.
func inDisposed(t *testing.T, test func(*world, *merges)) {
	t.Helper()
	f := &merges{}
	inWorld(t, func(w *world) { test(w, f) }, withRuns, func(w *world) {
		f.trees = w.trees
		w.cfg.Merges, w.cfg.Differ = f, differ{}
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

// TestDisposeAfterCrash: a server that dies before it has disposed of a worktree leaves that to the next one.
func TestDisposeAfterCrash(t *testing.T) {
	inDisposed(t, func(w *world, f *merges) {
		s := w.disposed(exec.DisposeDrop)
		w.trees.fail = errors.New("no disk")
		w.finish(s.ID, "do it")
		synctest.Wait()
		if gone(s) {
			t.Fatal("it was removed, although its files could not be kept")
		}
		w.trees.fail = nil
		w.crash()
		synctest.Wait()
		if !gone(s) {
			t.Error("it stays")
		}
	})
}
