package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// open finds the worktree that dir lies in and makes its state folder.
func (f *finder) open(ctx context.Context, dir string) (*worktree, error) {
	found, err := f.find(ctx, dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, thread.Hint(fmt.Errorf("%w: %w", err, thread.ErrNotFound),
				"the folder was deleted or moved; its last snapshot can still be forked")
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
	if err := w.prepare(ctx); err != nil {
		return nil, fmt.Errorf("open snapshots: %w", err)
	}
	return w, nil
}

// openLike opens a worktree that was just made, with another's settings where they must be the same.
func (f *finder) openLike(ctx context.Context, dir string, other *worktree) (*worktree, error) {
	found, err := git.Find(dir)
	if err != nil {
		return nil, err
	}
	w := f.at(found)
	own := filepath.Join(found.GitDir, "config.worktree")
	if _, err := os.Lstat(own); err == nil || found.Common != other.Common || other.set.Sparse {
		return f.open(ctx, dir)
	}
	w.set = other.set
	w.set.Origins = append(slices.Clone(other.set.Origins), stampOf(own))
	if err := os.MkdirAll(w.home, 0o700); err != nil {
		return nil, err
	}
	if err := w.freeze(ctx); err != nil {
		return nil, err
	}
	return w, w.writeShadow()
}

// each calls do for every repository that the store has worked in, reached through one of its worktrees.
func (f *finder) each(ctx context.Context, do func(*repository) error) error {
	all, _, err := f.folders()
	if err != nil {
		return err
	}
	for _, known := range all {
		w, err := f.open(ctx, known.dir)
		if errors.Is(err, thread.ErrNoRepository) || errors.Is(err, thread.ErrNotFound) ||
			err != nil && known.key != ownRepository && ctx.Err() == nil {
			continue
		}
		if err == nil {
			err = do(w.repo)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
