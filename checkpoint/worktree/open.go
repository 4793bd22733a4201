package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
)

// Open finds the worktree that dir is in and creates its state folder.
func (f *Finder) Open(ctx context.Context, dir string) (*repository.Worktree, error) {
	found, err := f.find(ctx, dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, thread.Hint(fmt.Errorf("%w: %w", err, thread.ErrNotFound),
				"the folder was deleted or moved; fork its last snapshot")
		}
		return nil, err
	}
	f.mu.Lock()
	known := f.checked[found.Common]
	f.mu.Unlock()
	if !known {
		if err := f.git.Check(ctx, found); err != nil {
			return nil, err
		}
		f.mu.Lock()
		f.checked[found.Common] = true
		f.mu.Unlock()
	}
	w := f.at(found)
	if err := w.Prepare(ctx); err != nil {
		return nil, fmt.Errorf("open snapshots: %w", err)
	}
	return w, nil
}

// openLike opens a worktree that was just created, with another's settings where they must be equal.
func (f *Finder) openLike(ctx context.Context, dir string, other *repository.Worktree) (*repository.Worktree, error) {
	found, err := git.Find(dir)
	if err != nil {
		return nil, err
	}
	w := f.at(found)
	if _, err := os.Lstat(w.OwnConfig()); err == nil || found.Common != other.Git.Common || other.Settings.Sparse {
		return f.Open(ctx, dir)
	}
	return w, w.PrepareLike(ctx, other.Access)
}

// OpenProject opens the worktree that the project's folder is in.
func (f *Finder) OpenProject(ctx context.Context) (*repository.Worktree, error) {
	return f.Open(ctx, f.dir)
}

// Each calls do for every repository that the store has worked in, reached through one of its worktrees.
func (f *Finder) Each(ctx context.Context, do func(*repository.Repository) error) error {
	all, _, err := f.folders()
	if err != nil {
		return err
	}
	for _, known := range all {
		w, err := f.Open(ctx, known.dir)
		if errors.Is(err, thread.ErrNoRepository) || errors.Is(err, thread.ErrNotFound) ||
			err != nil && known.key != ownRepository && ctx.Err() == nil {
			continue
		}
		if err == nil {
			err = do(w.Repo)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
