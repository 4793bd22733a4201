package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// view reads a worktree without leaving traces: the objects that it needs are written to a folder that is deleted with
// it.
type view struct {
	w   files
	dir string
	env []string
	now string // tree of the current worktree
	// skipped are the files of the current worktree that now does not have.
	skipped []thread.Skip
}

// openView opens a view; live also reads the worktree's files, up to a limit.
func openView(ctx context.Context, w files, live bool, limit int64) (*view, error) {
	dir, err := os.MkdirTemp(w.work.Home, "view-*")
	if err != nil {
		return nil, err
	}
	v := &view{w: w, dir: dir}
	v.env = []string{
		"GIT_INDEX_FILE=" + filepath.Join(dir, "index"),
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(dir, "objects"),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + git.Alternate(filepath.Join(w.work.Git.Common, "objects")),
	}
	err = os.Mkdir(filepath.Join(dir, "objects"), 0o700)
	if err == nil && live {
		err = v.readNow(ctx, limit)
	}
	if err != nil {
		v.close()
		return nil, err
	}
	return v, nil
}

func (v *view) close() { _ = os.RemoveAll(v.dir) }

// readNow reads the worktree through a copy of the private index.
func (v *view) readNow(ctx context.Context, limit int64) error {
	unlock, err := v.w.work.Lock(ctx)
	if err != nil {
		return err
	}
	if _, trusted := v.w.work.Holds(); !trusted || v.w.work.Settings.Sparse {
		err = v.w.seed(ctx)
		if err != nil {
			unlock()
			return err
		}
	}
	err = git.CopyIndex(v.w.work.Index(), filepath.Join(v.dir, "index"))
	unlock()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	found, err := v.w.scan(ctx, v.env, limit)
	if err != nil {
		return err
	}
	refused, err := v.w.apply(ctx, found, v.env, false)
	if err != nil {
		return err
	}
	v.skipped = append(found.skip, refused...)
	out, err := v.w.work.Ours(ctx, git.Call{Args: []string{"write-tree"}, Env: v.env})
	v.now = strings.TrimSpace(string(out))
	return err
}

func (v *view) side(ctx context.Context, id string) (string, error) {
	if id == "" {
		return v.now, nil
	}
	if id == v.empty() {
		_, err := v.w.work.Ours(ctx, git.Call{Args: []string{"hash-object", "-t", "tree", "-w", "--stdin"}, Env: v.env})
		return id, err
	}
	if id == "HEAD" { // "" on an unborn branch
		at, err := v.w.work.Head(ctx)
		if err != nil {
			return "", err
		}
		id = at
	}
	return v.w.work.Repo.TreeOf(ctx, v.env, id)
}

// empty is the id of the empty tree.
func (v *view) empty() string {
	if v.w.work.Settings.Format == "sha256" {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}
