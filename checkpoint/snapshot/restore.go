package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// Restore makes dir's worktree contain exactly the files of a snapshot, ignored files aside, and returns the safety
// snapshot taken before: restoring that undoes it. Files that had to be left alone (an ignored file in the way, a
// submodule, a file the snapshot skipped) are listed in the safety snapshot's Skipped. Branch, HEAD and index stay as
// they are.
func (s *Store) Restore(ctx context.Context, id thread.ID, dir string, at thread.Snapshot) (thread.Snapshot, error) {
	return s.restoreTo(ctx, id, dir, at, nil)
}

// RestoreOnly is Restore for some paths only; all others stay as they are. Paths that are equal in the snapshot and the
// worktree are not an error.
func (s *Store) RestoreOnly(
	ctx context.Context, id thread.ID, dir string, at thread.Snapshot, paths []string,
) (thread.Snapshot, error) {
	return s.restoreTo(ctx, id, dir, at, &paths)
}

func (s *Store) restoreTo(
	ctx context.Context, id thread.ID, dir string, at thread.Snapshot, only *[]string,
) (thread.Snapshot, error) {
	if err := repository.CheckID(id); err != nil {
		return thread.Snapshot{}, fmt.Errorf("restore snapshot: %w", err)
	}
	w, err := s.open(ctx, dir)
	if err != nil {
		return thread.Snapshot{}, fmt.Errorf("restore snapshot: %w", err)
	}
	o := repository.Operation{Kind: repository.KindRestore, Thread: id, Worktree: w.work.Name(), Target: &at, Only: only}
	safety, err := s.restore(ctx, w, o, at)
	if err != nil {
		return safety, fmt.Errorf("restore snapshot: %w", err)
	}
	return safety, nil
}

// Resume completes an interrupted restore, and returns the safety snapshot of the files before it.
func (s *Store) Resume(ctx context.Context, w *repository.Worktree, o repository.Operation) (thread.Snapshot, error) {
	return s.restore(ctx, files{w}, o, *o.Target)
}

// restore restores the files of at. An operation with an id is one that continues.
func (s *Store) restore(
	ctx context.Context, w files, o repository.Operation, at thread.Snapshot,
) (thread.Snapshot, error) {
	unlock, err := w.work.Lock(ctx)
	if err != nil {
		return thread.Snapshot{}, err
	}
	defer unlock()
	target, err := w.work.Repo.SnapshotTree(ctx, at)
	if err != nil {
		return thread.Snapshot{}, err
	}
	where, err := disk.OpenPlace(w.work.Git.Root)
	if err != nil {
		return thread.Snapshot{}, err
	}
	defer where.Close()
	safety, todo, err := s.settle(ctx, w, where, o, target)
	if err != nil {
		return thread.Snapshot{}, err
	}
	failpoint.Hit("snapshot.restore.saved")
	todo.from, todo.to = safety.Tree, target
	j, err := w.work.Repo.Journals.Begin(o)
	if err != nil {
		return safety, err
	}
	failpoint.Hit("snapshot.restore.begun")
	if o.Only != nil {
		todo.only(*o.Only)
	}
	todo.keepSkipped(at.Skipped)
	err = w.carryOut(ctx, where, todo)
	if err == nil {
		err = disk.SyncTree(w.work.Git.Root)
	}
	if err != nil {
		return safety, w.abandon(ctx, where, j, todo, err)
	}
	failpoint.Hit("snapshot.restore.written")
	safety.Skipped = append(safety.Skipped, todo.left...)
	return safety, j.End()
}

// abandon ends a failed restore. What it did is rolled back, so that no file is lost and none is a surprise later; if
// that fails too, or if it was continuing an interrupted one, the journal stays.
func (w files) abandon(ctx context.Context, where *disk.Place, j *repository.Journal, t *todo, why error) error {
	ctx = context.WithoutCancel(ctx) // it may be what failed
	if err := w.reverse(ctx, where, t); err != nil {
		j.Leave()
		return errors.Join(why, fmt.Errorf("roll back the restore: %w", err))
	}
	if j.Again {
		j.Leave()
		return why
	}
	return errors.Join(why, j.End())
}

// reverse rolls back the completed steps, and only those.
func (w files) reverse(ctx context.Context, where *disk.Place, t *todo) error {
	done := map[string]bool{}
	for _, st := range t.steps {
		if st.done {
			done[st.Path] = true
		}
	}
	back, err := w.between(ctx, t.to, t.from)
	if err != nil {
		return err
	}
	back.steps = slices.DeleteFunc(back.steps, func(st todoStep) bool { return !done[st.Path] })
	for i := range back.steps {
		st := &back.steps[i]
		if st.old, err = where.Lstat(st.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return w.carryOut(ctx, where, back)
}

// settle takes the safety snapshot and makes sure that the affected files are still as in it.
func (s *Store) settle(
	ctx context.Context, w files, where *disk.Place, o repository.Operation, target string,
) (thread.Snapshot, *todo, error) {
	order := order{thread: o.Thread, limit: s.cfg.Limit, note: "before restoring"}
	safety, err := s.take(ctx, w, order)
	if err != nil {
		return safety, nil, fmt.Errorf("save the current files: %w", err)
	}
	for range tries {
		list, err := w.between(ctx, safety.Tree, target)
		if err != nil {
			return safety, nil, err
		}
		for i := range list.steps {
			if st := &list.steps[i]; st.OldMode != "" {
				if st.old, err = where.Lstat(st.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return safety, nil, err
				}
			}
		}
		again, err := s.take(ctx, w, order)
		if err != nil {
			return safety, nil, fmt.Errorf("save the current files: %w", err)
		}
		if again.Tree == safety.Tree {
			return safety, list, nil
		}
		safety = again
	}
	return safety, nil, fmt.Errorf("save the current files: they keep changing, is the agent still working? %w",
		ErrChanged)
}
