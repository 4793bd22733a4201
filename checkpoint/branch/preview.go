package branch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// Preview reports the result of committing everything in a worktree and merging its HEAD, and changes nothing.
func (m *Merger) Preview(ctx context.Context, into, worktree string) (thread.Merged, error) {
	t, err := m.open(ctx, into)
	if err != nil {
		return thread.Merged{}, fmt.Errorf("preview merge: %w", err)
	}
	defer t.close()
	from, err := m.open(ctx, worktree)
	if err != nil {
		return thread.Merged{}, fmt.Errorf("preview merge: %w", err)
	}
	defer from.close()
	what, err := t.preview(ctx, from)
	if err != nil {
		return thread.Merged{}, fmt.Errorf("preview merge: %w", err)
	}
	return what, nil
}

func (t tree) preview(ctx context.Context, from tree) (thread.Merged, error) {
	tr, err := t.trial()
	if err != nil {
		return thread.Merged{}, err
	}
	defer tr.close()
	commit, err := from.previewCommit(ctx, tr)
	if err != nil {
		return thread.Merged{}, err
	}
	t.env = tr.env
	tip, head, merged, err := t.ends(ctx, commit)
	if err != nil {
		return thread.Merged{}, err
	}
	if merged {
		return thread.Merged{UpToDate: true, Commit: head}, nil
	}
	if err := t.fill(ctx, tr, head, tip); err != nil {
		return thread.Merged{}, err
	}
	if _, err := t.roomFor(ctx, head, tip, tr); err != nil {
		return thread.Merged{}, err
	}
	return thread.Merged{Conflicts: tr.conflicts}, nil
}

// previewCommit returns a commit as commitAll would make it, among the trial's objects; HEAD if there is nothing to
// commit.
func (t tree) previewCommit(ctx context.Context, tr *trial) (string, error) {
	index := filepath.Join(tr.dir, "index")
	if err := git.CopyIndex(filepath.Join(t.GitDir, "index"), index); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	t.env = append(slices.Clone(tr.env), "GIT_INDEX_FILE="+index,
		// The shared part of a split index would be written beside the worktree's own.
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.splitIndex", "GIT_CONFIG_VALUE_0=false")
	head, changed, err := t.stageAll(ctx)
	if err != nil {
		return "", err
	}
	if !changed {
		return t.commit(ctx, "HEAD")
	}
	of, err := t.line(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", "-m", "uncommitted changes", of}
	if head != "" {
		args = append(args, "-p", head)
	}
	return t.line(ctx, args...)
}
