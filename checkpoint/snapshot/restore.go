package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"orchestrator/checkpoint/disk"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// Restore makes the worktree that dir lies in hold exactly what a snapshot holds, as far as files are not ignored,
// and returns the safety snapshot of what was there before: restoring that undoes it. What had to be left as it is
// (an ignored file in the way, a submodule, a file the snapshot skipped) is named in the safety snapshot's Skipped.
// Branch, HEAD and index stay as they are.
func (s *Store) Restore(ctx context.Context, id thread.ID, dir string, at thread.Snapshot) (thread.Snapshot, error) {
	return s.restoreTo(ctx, id, dir, at, nil)
}

// RestoreOnly is Restore for some paths alone; all others stay as they are. Paths that the snapshot and the worktree
// have alike are no error.
func (s *Store) RestoreOnly(ctx context.Context, id thread.ID, dir string, at thread.Snapshot, paths []string) (thread.Snapshot, error) {
	return s.restoreTo(ctx, id, dir, at, &paths)
}

func (s *Store) restoreTo(ctx context.Context, id thread.ID, dir string, at thread.Snapshot, only *[]string) (thread.Snapshot, error) {
	if err := checkID(id); err != nil {
		return thread.Snapshot{}, fmt.Errorf("restore snapshot: %w", err)
	}
	w, err := s.finder.open(ctx, dir)
	if err != nil {
		return thread.Snapshot{}, fmt.Errorf("restore snapshot: %w", err)
	}
	safety, err := s.restore(ctx, w, op{Kind: opRestore, Thread: id, Worktree: w.name(), Target: &at, Only: only}, at)
	if err != nil {
		return safety, fmt.Errorf("restore snapshot: %w", err)
	}
	return safety, nil
}

// restore sets the files to at. An op with an id is one that goes on.
func (s *Store) restore(ctx context.Context, w *worktree, o op, at thread.Snapshot) (thread.Snapshot, error) {
	unlock, err := w.lock(ctx)
	if err != nil {
		return thread.Snapshot{}, err
	}
	defer unlock()
	target, err := w.repo.snapshotTree(ctx, at)
	if err != nil {
		return thread.Snapshot{}, err
	}
	where, err := disk.OpenPlace(w.Root)
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
	j, err := w.repo.journals.begin(o)
	if err != nil {
		return safety, err
	}
	failpoint.Hit("snapshot.restore.begun")
	if o.Only != nil {
		todo.only(*o.Only)
	}
	todo.spare(at.Skipped)
	err = w.carryOut(ctx, where, todo)
	if err == nil {
		err = disk.SyncTree(w.Root)
	}
	if err != nil {
		return safety, w.giveUp(ctx, where, j, todo, err)
	}
	failpoint.Hit("snapshot.restore.written")
	safety.Skipped = append(safety.Skipped, todo.left...)
	return safety, j.end()
}

// giveUp ends a restore that failed. What it did is taken back, so that no file is lost and none comes as a surprise
// later; where that fails too, or where it went on with one that had been cut off, the journal stays.
func (w *worktree) giveUp(ctx context.Context, where *disk.Place, j *journal, t *todo, why error) error {
	ctx = context.WithoutCancel(ctx) // it may be what failed
	if err := w.reverse(ctx, where, t); err != nil {
		j.leave()
		return errors.Join(why, fmt.Errorf("take back what was restored: %w", err))
	}
	if j.again {
		j.leave()
		return why
	}
	return errors.Join(why, j.end())
}

// reverse takes back the steps that were done, and only those.
func (w *worktree) reverse(ctx context.Context, where *disk.Place, t *todo) error {
	done := map[string]bool{}
	for _, st := range t.steps {
		if st.done {
			done[st.path] = true
		}
	}
	back, err := w.repo.between(ctx, t.to, t.from)
	if err != nil {
		return err
	}
	back.steps = slices.DeleteFunc(back.steps, func(st todoStep) bool { return !done[st.path] })
	for i := range back.steps {
		st := &back.steps[i]
		if st.old, err = where.Lstat(st.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return w.carryOut(ctx, where, back)
}

// settle takes the safety snapshot and makes sure that the files it is about are still as it holds them.
func (s *Store) settle(ctx context.Context, w *worktree, where *disk.Place, o op, target string) (thread.Snapshot, *todo, error) {
	order := order{thread: o.Thread, limit: s.cfg.Limit, note: "before restoring"}
	safety, err := s.take(ctx, w, order)
	if err != nil {
		return safety, nil, fmt.Errorf("save what is there: %w", err)
	}
	for range tries {
		list, err := w.repo.between(ctx, safety.Tree, target)
		if err != nil {
			return safety, nil, err
		}
		for i := range list.steps {
			if st := &list.steps[i]; st.oldMode != "" {
				if st.old, err = where.Lstat(st.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return safety, nil, err
				}
			}
		}
		again, err := s.take(ctx, w, order)
		if err != nil {
			return safety, nil, fmt.Errorf("save what is there: %w", err)
		}
		if again.Tree == safety.Tree {
			return safety, list, nil
		}
		safety = again
	}
	return safety, nil, fmt.Errorf("save what is there: files keep changing, is the agent still working: %w", ErrChanged)
}
