package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plaintext"
	exec "orchestrator/thread/work"
)

// What becomes of a thread's own worktree when its execution has ended is done after that is stored, and each step can be
// repeated: a start of the server does it again for the newest execution of each thread whose worktree is still there.
// The thread keeps the worktree's name; its next run gets it again, with the files as they were.

// errInUse means that something works in the worktree again: the end of that disposes of it.
var errInUse = errors.New("it is in use")

// disposes disposes of the worktree of an execution that has ended, in the background.
func (m *Merges) disposes(x exec.Execution) {
	if x.Dispose == exec.DisposeKeep || x.State == exec.Lost || !m.work.begin() {
		return
	}
	go func() {
		defer m.work.done()
		l := m.registry.run(x.Thread)
		if l == nil || !ownWorktree(l.live.thread()) {
			return
		}
		err := m.dispose(m.work.ctx, l, x)
		if err != nil && !errors.Is(err, errInUse) && !errors.Is(err, errClosed) {
			m.notices.post(x.Thread, thread.LevelWarn, "%s: its worktree stays: %v", l.live.thread().DisplayName(), err)
		}
	}()
}

// ownWorktree reports whether a thread has a worktree of its own that is there.
func ownWorktree(t thread.Thread) bool {
	if !t.Once.On || t.Worktree.Path == "" {
		return false
	}
	_, err := os.Lstat(t.Worktree.Path)
	return err == nil
}

func (m *Merges) dispose(ctx context.Context, l *run, x exec.Execution) error {
	switch x.Dispose {
	case exec.DisposeBranch:
		return m.removeDisposed(ctx, l, x)
	case exec.DisposeDrop:
		if err := m.removeDisposed(ctx, l, x); err != nil {
			return err
		}
		if d, can := m.cfg.Worktrees.(thread.BranchDropper); can {
			return d.DropBranch(ctx, l.live.thread().Worktree)
		}
		return nil
	case exec.DisposeMerge:
		return m.mergeDisposed(ctx, l, x)
	default:
		return nil
	}
}

// mergeDisposed merges the work of an execution that has completed, and removes the worktree. What does not merge by
// itself is left to the person, before anything is changed.
func (m *Merges) mergeDisposed(ctx context.Context, l *run, x exec.Execution) error {
	if x.State != exec.Completed {
		return nil // there may be half of it
	}
	if err := m.unused(l, x); err != nil {
		return err
	}
	r := thread.MergeRequest{Thread: string(l.live.id), Note: thread.NoteNever}
	r.DryRun = true
	report, err := m.Start(ctx, r)
	if err == nil && len(report.Conflicts) == 0 {
		r.DryRun = false
		report, err = m.Start(ctx, r)
	}
	if err == nil && len(report.Conflicts) > 0 {
		err = thread.Hint(fmt.Errorf("%s: %w", plaintext.Count(len(report.Conflicts), "file"), thread.ErrConflict),
			"`orchestrator merge "+l.live.thread().Name+"` merges it")
	}
	if err != nil {
		return err
	}
	failpoint.Hit("thread.dispose.merged")
	return m.removeDisposed(ctx, l, x)
}

// removeDisposed commits what is in the worktree, unless it is dropped, and removes it.
func (m *Merges) removeDisposed(ctx context.Context, l *run, x exec.Execution) error {
	what, only := "the end of "+x.Name, []thread.ID{l.live.id}
	_, err := m.detached(ctx, what, only, func(ctx, git context.Context) (thread.MergeReport, error) {
		return thread.MergeReport{}, l.live.do(ctx, func(ctx context.Context) error {
			if err := m.unused(l, x); err != nil {
				return err
			}
			t := l.live.thread()
			if x.Dispose != exec.DisposeDrop && m.cfg.Merges != nil {
				if _, err := m.cfg.Merges.Commit(git, t.Worktree.Path, task(ctx, l, x)); err != nil {
					return fmt.Errorf("commit its work: %w", err)
				}
				failpoint.Hit("thread.dispose.committed")
			}
			// The next run starts with the files, and on the commit, that this checkpoint has.
			if _, err := l.recorder.Safety(ctx, "before its worktree was removed", true); err != nil {
				return err
			}
			failpoint.Hit("thread.dispose.safe")
			_, err := l.removeWorktree(ctx)
			return err
		})
	})
	return err
}

// subject is how long the first line of a commit's message may be.
const subject = 72

// task is what an execution was asked, in a line.
func task(ctx context.Context, l *run, x exec.Execution) string {
	p, err := l.cfg.Store.Prompt(ctx, x.Prompt)
	if err != nil {
		p.Text = ""
	}
	t := l.live.thread()
	return plaintext.Cut(cmp.Or(plaintext.FirstLine(thread.Excerpt(p.Text)), plaintext.FirstLine(t.Label), t.Name), subject)
}

// unused returns errInUse unless an execution is its thread's newest and nothing works or waits there.
func (m *Merges) unused(l *run, x exec.Execution) error {
	if l.live.running() != nil || attemptOf(l) != nil || l.open.anyOf(x.Thread) {
		return errInUse
	}
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	if l.live.run == nil || l.live.run.Execution != x.Name || !ownWorktree(l.live.t) {
		return errInUse
	}
	return nil
}
