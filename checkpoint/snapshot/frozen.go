package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// frozen is the repository without what its own configuration would run, for a call of git that might.
type frozen struct {
	dir string
	env []string
}

// freeze makes one. What a killed process left of its own is removed an hour later.
func (w *worktree) freeze(ctx context.Context) (frozen, error) {
	if old, err := filepath.Glob(filepath.Join(w.home, "frozen-*")); err == nil {
		for _, dir := range old {
			if info, err := os.Lstat(dir); err == nil && time.Since(info.ModTime()) > time.Hour {
				os.RemoveAll(dir)
			}
		}
	}
	own, err := w.git.ReadOwn(ctx, w.Worktree)
	if err != nil {
		return frozen{}, err
	}
	f := frozen{}
	if f.dir, err = os.MkdirTemp(w.home, "frozen-*"); err != nil {
		return frozen{}, err
	}
	if f.env, err = own.Freeze(f.dir, false); err != nil {
		f.remove()
		return frozen{}, err
	}
	return f, nil
}

func (f frozen) remove() { os.RemoveAll(f.dir) }
