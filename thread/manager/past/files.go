package past

import (
	"context"
	"fmt"

	"orchestrator/thread"
)

// SnapshotAt returns the newest snapshot at or before a checkpoint, nil if there is none.
func (r Reader) SnapshotAt(ctx context.Context, at thread.CheckpointID) (*thread.Snapshot, error) {
	if at == "" {
		return nil, nil
	}
	c, err := r.Store.Checkpoint(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("read the checkpoint: %w", err)
	}
	if c.Snapshot != nil {
		return c.Snapshot, nil
	}
	list, err := r.Store.Lineage(ctx, at, thread.Page{Turns: true, Limit: 100})
	if err != nil {
		return nil, fmt.Errorf("read the checkpoints: %w", err)
	}
	for _, c := range list {
		if c.Snapshot != nil {
			return c.Snapshot, nil
		}
	}
	return nil, nil
}

// BaseOf returns the commit that a thread's work is compared with: where its branch began, or the HEAD of its first
// snapshot.
func (r Reader) BaseOf(ctx context.Context, t thread.Thread) (string, error) {
	if t.Worktree.Base != "" {
		return t.Worktree.Base, nil
	}
	list, err := r.Store.Checkpoints(ctx, t.ID, thread.Page{Turns: true, Limit: 1 << 20})
	if err != nil {
		return "", err
	}
	for i := len(list) - 1; i >= 0; i-- {
		if s := list[i].Snapshot; s != nil && s.Base != "" {
			return s.Base, nil
		}
	}
	return "HEAD", nil
}

// Changed returns the paths that differ between two snapshots, both names of a renamed file.
func (r Reader) Changed(ctx context.Context, dir string, from, to thread.Snapshot) ([]string, error) {
	if from.Commit == to.Commit {
		return nil, nil
	}
	files, err := r.Differ.Diff(ctx, dir, from.Commit, to.Commit)
	if err != nil {
		return nil, fmt.Errorf("compare the files: %w", err)
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
		if f.OldPath != "" {
			paths = append(paths, f.OldPath)
		}
	}
	return paths, nil
}

// ChangedFiles returns what the thread changed up to a checkpoint, as far as snapshots show.
func (r Reader) ChangedFiles(ctx context.Context, t thread.Thread, at thread.Checkpoint) []thread.FileDiff {
	if r.Differ == nil {
		return nil
	}
	s, err := r.SnapshotAt(ctx, at.ID)
	if err != nil || s == nil || s.Base == "" {
		return nil
	}
	files, err := r.Differ.Diff(ctx, t.Dir, s.Base, s.Commit)
	if err != nil {
		r.Log.Warn("compare the files for a handoff", "thread", string(t.ID), "err", err)
		return nil
	}
	return files
}
