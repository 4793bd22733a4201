package manager

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plaintext"
	exec "orchestrator/thread/work"
)

// What becomes of a thread's own worktree when its execution has ended is done after that is stored, once. Only what had
// begun when a server died is completed by the next one: a person may have worked in the worktree since. The thread keeps
// the worktree's name; its next run gets it again, with the files as they were.

// errInUse means that a worktree is not disposed of: something works in it again, or has.
var errInUse = errors.New("it is in use")

// disposeIntent is the removal of a worktree in progress.
type disposeIntent struct {
	Execution exec.ID `json:"execution"`
}

// commitLimit bounds a commit that nobody waits for, with the person's programs that git starts, such as a signer.
const commitLimit = time.Minute

// disposeAgain says how long a disposal waits before it is tried again, each time that something else is in the way.
func disposeAgain() []time.Duration {
	return []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute}
}

// disposes disposes of the worktree of an execution that has ended, in the background. What never ran has none; that of
// one whose fallback goes on is what the fallback works in, and stays. Of an agent of a plan that has completed it stays until
// what it hands over is stored: see Parts.Dispose.
func (m *Merges) disposes(x exec.Execution) {
	if x.Part.Round == 0 || x.State != exec.Completed {
		m.disposed(x)
	}
}

// disposed is disposes for any execution.
func (m *Merges) disposed(x exec.Execution) {
	if x.Dispose != exec.DisposeKeep && x.State != exec.Lost && x.Process != "" && x.Instead == "" {
		m.disposesIn(0, x, disposeAgain())
	}
}

// disposesIn disposes of a worktree after a while, and again after each of the next pauses if something is in the way.
func (m *Merges) disposesIn(wait time.Duration, x exec.Execution, next []time.Duration) {
	m.inBackground(wait, func() {
		l, err := m.registry.certain(m.work.ctx, x.Thread)
		if err == nil && (l == nil || !ownWorktree(l.live.thread())) {
			return
		}
		if err == nil {
			err = m.dispose(m.work.ctx, l, x)
		}
		if len(next) > 0 && passes(err) {
			m.disposesIn(next[0], x, next[1:])
			return
		}
		if l == nil {
			m.notices.post(x.Thread, thread.LevelWarn, "%s: its worktree stays: %v", x.Name, err)
			return
		}
		m.stays(l, err)
	})
}

// passes reports whether what is in the way of a disposal may soon not be any more.
func passes(err error) bool {
	return errors.Is(err, thread.ErrBusy) || thread.IsDiskFull(err) || errors.Is(err, thread.ErrUnreachable)
}

// repairDispose completes the removal of a worktree that a crash interrupted.
func (m *Merges) repairDispose(ctx context.Context, i thread.Intent) error {
	var d disposeIntent
	if err := json.Unmarshal(i.Data, &d); err != nil {
		return fmt.Errorf("read the intent: %w", err)
	}
	l, err := m.registry.certain(ctx, i.Thread)
	if l == nil {
		return err
	}
	x, err := m.cfg.Runs.Store.Execution(ctx, string(d.Execution))
	switch {
	case errors.Is(err, thread.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	m.inBackground(0, func() {
		err := m.removeDisposed(m.work.ctx, l, x)
		if errors.Is(err, errGoneAlready) {
			err = m.dropBranch(m.work.ctx, l, x)
		}
		m.stays(l, err)
	})
	return nil
}

// inBackground does something after a while, unless the server stops.
func (m *Merges) inBackground(wait time.Duration, do func()) {
	if !m.work.begin() {
		return
	}
	go func() {
		defer m.work.done()
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
			do()
		case <-m.work.closing.Done():
		}
	}()
}

// stays says why a worktree stays, unless nobody asks.
func (m *Merges) stays(l *run, err error) {
	if err != nil && !errors.Is(err, errInUse) && !errors.Is(err, errClosed) {
		m.notices.post(l.live.id, thread.LevelWarn, "%s: its worktree stays: %v", l.live.thread().DisplayName(), err)
	}
}

func (m *Merges) dispose(ctx context.Context, l *run, x exec.Execution) error {
	switch x.Dispose {
	case exec.DisposeBranch, exec.DisposeDrop:
		return m.removeDisposed(ctx, l, x)
	case exec.DisposeMerge:
		return m.mergeDisposed(ctx, l, x)
	default:
		return nil
	}
}

// mergeDisposed merges the work of an execution that has completed, and removes the worktree. What does not merge by
// itself is left to the person, before anything is changed; so is what would commit the work of others, or change files
// under an agent at work.
func (m *Merges) mergeDisposed(ctx context.Context, l *run, x exec.Execution) error {
	if x.State != exec.Completed {
		return nil // there may be half of it
	}
	err := l.live.do(ctx, func(ctx context.Context) error {
		if err := m.unused(l, x); err != nil {
			return err
		}
		return m.onItsBranch(ctx, l.live.thread())
	})
	if err != nil {
		return err
	}
	r := thread.MergeRequest{Thread: string(l.live.id), Note: thread.NoteNever}
	in, target, err := m.mergeTarget(ctx, l, r)
	if err == nil {
		err = m.undisturbed(ctx, in, target)
	}
	byHand := "`orchestrator merge " + l.live.thread().Name + "` merges it"
	if err != nil {
		return thread.Hint(err, byHand)
	}
	r.DryRun = true
	report, err := m.Start(ctx, r)
	if err == nil && report.Unsure != "" {
		return thread.Hint(thread.Kindf(thread.ErrRefused, "%s", report.Unsure), byHand)
	}
	if err == nil && len(report.Conflicts) == 0 {
		r.DryRun = false
		report, err = m.Start(ctx, r)
		if err == nil && report.Stopped {
			err = m.Abort(ctx, r.Thread)
		}
	}
	if err == nil && len(report.Conflicts) > 0 {
		err = thread.Hint(fmt.Errorf("%s: %w", plaintext.Count(len(report.Conflicts), "file"), thread.ErrConflict), byHand)
	}
	if err != nil {
		return err
	}
	failpoint.Hit("thread.dispose.merged")
	return m.removeDisposed(ctx, l, x)
}

// undisturbed returns an error if a merge that nobody has asked for now would be in somebody's way.
func (m *Merges) undisturbed(ctx context.Context, in mergeIntent, target *run) error {
	if target == nil {
		return nil
	}
	if err := target.live.do(ctx, target.idle); err != nil {
		return err
	}
	if !m.commitsInto(in) {
		return nil
	}
	files, err := m.uncommitted(ctx, in)
	if err == nil && len(files) > 0 {
		err = thread.Kindf(thread.ErrRefused, "%s has uncommitted changes in %s",
			target.live.thread().Name, plaintext.Count(len(files), "file"))
	}
	return err
}

// onItsBranch returns an error unless a thread's worktree is on its own branch: what is committed elsewhere is not kept
// by that one.
func (m *Merges) onItsBranch(ctx context.Context, t thread.Thread) error {
	if m.cfg.Merges == nil {
		return nil
	}
	on, err := m.branchOf(ctx, t)
	if err == nil && on != t.Worktree.Branch {
		err = thread.Hint(thread.Kindf(thread.ErrRefused, "its agent works on branch %s, not on %s", on, t.Worktree.Branch),
			"`orchestrator merge "+t.Name+"` merges that one")
	}
	return err
}

// removeDisposed commits what is in the worktree, unless it is dropped, and removes it.
func (m *Merges) removeDisposed(ctx context.Context, l *run, x exec.Execution) error {
	what, only := "the end of "+x.Name, []thread.ID{l.live.id}
	_, err := m.detached(ctx, what, only, func(ctx, git context.Context) (thread.MergeReport, error) {
		return thread.MergeReport{}, l.live.do(ctx, func(ctx context.Context) error {
			if err := m.unused(l, x); err != nil {
				return err
			}
			intent, err := m.intents.begin(ctx, intentDispose, l.live.id, disposeIntent{x.ID})
			if err != nil {
				return err
			}
			failpoint.Hit("thread.dispose.intended")
			err = m.removeStep(ctx, git, l, x)
			return errors.Join(err, m.intents.settle(ctx, intent))
		})
	})
	return err
}

// removeStep is the step of removeDisposed; it can be repeated. Nothing else works in the worktree.
func (m *Merges) removeStep(ctx, git context.Context, l *run, x exec.Execution) error {
	t := l.live.thread()
	if x.Dispose != exec.DisposeDrop && m.cfg.Merges != nil {
		if err := m.onItsBranch(ctx, t); err != nil {
			return err
		}
		git, end := context.WithTimeoutCause(git, commitLimit, fmt.Errorf("it took longer than %v", commitLimit))
		defer end()
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
	if _, err := l.removeWorktree(ctx); err != nil {
		return err
	}
	return m.dropBranch(ctx, l, x)
}

// dropBranch drops the branch of a worktree that was removed, if its execution is to leave nothing.
func (m *Merges) dropBranch(ctx context.Context, l *run, x exec.Execution) error {
	if d, can := m.cfg.Worktrees.(thread.BranchDropper); can && x.Dispose == exec.DisposeDrop {
		return d.DropBranch(ctx, l.live.thread().Worktree)
	}
	return nil
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

// errGoneAlready is an errInUse of a worktree that is not there.
var errGoneAlready = fmt.Errorf("it is gone: %w", errInUse)

// unused returns errInUse unless an execution is its thread's newest, nothing works or waits there or was opened since,
// and the thread is in use.
func (m *Merges) unused(l *run, x exec.Execution) error {
	if l.live.running() != nil || attemptOf(l) != nil || l.open.anyOf(x.Thread) {
		return errInUse
	}
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	t := l.live.t
	if l.live.run == nil || l.live.run.Execution != x.Name || l.opened || !t.Deleted.IsZero() || !t.Archived.IsZero() {
		return errInUse
	}
	if !ownWorktree(t) {
		return errGoneAlready
	}
	return nil
}
