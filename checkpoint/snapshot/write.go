package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/git"
	"orchestrator/thread/failpoint"
)

// ErrChanged says that files changed while they were being restored. What was restored so far is taken back.
var ErrChanged = errors.New("a file changed meanwhile")

// carryOut removes what the target has not, then writes what it has.
func (w *worktree) carryOut(ctx context.Context, where *disk.Place, t *todo) error {
	need := t.parents()
	for i := len(t.steps) - 1; i >= 0; i-- { // what lies deeper first
		st := &t.steps[i]
		if st.newMode != "" {
			continue
		}
		left := len(t.left)
		if err := t.takeAway(where, st, need); err != nil {
			return fmt.Errorf("remove %s: %w", git.Printable(st.path), err)
		}
		st.done = left == len(t.left)
		failpoint.Hit("snapshot.restore.removed")
	}
	var oids []string
	for _, st := range t.steps {
		if st.newMode != "" && st.newMode != modeRepo {
			oids = append(oids, st.oid)
		}
	}
	missing, err := w.repo.missing(ctx, oids)
	if err != nil {
		return err
	}
	oids = slices.DeleteFunc(oids, func(oid string) bool { return missing[oid] })
	return w.repo.blobs(ctx, oids, func(next func() (io.Reader, error)) error {
		for i := range t.steps {
			st := &t.steps[i]
			if st.newMode == "" {
				continue
			}
			if st.newMode != modeRepo && missing[st.oid] {
				t.leave(st.path, "left as it is: this partial clone never fetched it")
				continue
			}
			left := len(t.left)
			if err := t.write(where, st, next); err != nil {
				return fmt.Errorf("write %s: %w", git.Printable(st.path), err)
			}
			st.done = left == len(t.left)
			failpoint.Hit("snapshot.restore.wrote")
		}
		return nil
	})
}

// takeAway removes one file, and the folders that are empty then and that nothing needs.
func (t *todo) takeAway(where *disk.Place, st *todoStep, need map[string]bool) error {
	if st.oldMode == modeRepo {
		t.leave(st.path, "left as it is: a submodule")
		return nil
	}
	if st.old != nil {
		if err := unchanged(where, st); err != nil {
			return err
		}
		if err := where.Remove(st.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for dir := path.Dir(st.path); dir != "." && !need[dir]; dir = path.Dir(dir) {
		if where.Remove(dir) != nil {
			break // not empty: something ignored, or another file of the snapshot
		}
	}
	return nil
}

// unchanged makes sure that a path is as the safety snapshot saw it.
func unchanged(where *disk.Place, st *todoStep) error {
	now, err := where.Lstat(st.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if st.old == nil || now.Mode() != st.old.Mode() || now.Size() != st.old.Size() ||
		!now.ModTime().Equal(st.old.ModTime()) || !os.SameFile(now, st.old) {
		return ErrChanged
	}
	return nil
}

// write puts one file of the target in place, unless something that is not saved stands there.
func (t *todo) write(where *disk.Place, st *todoStep, next func() (io.Reader, error)) error {
	if st.newMode == modeRepo {
		if st.oldMode != "" {
			t.leave(st.path, "left as it is: a submodule")
			return nil
		}
		if err := where.Mkdir(st.path); err != nil {
			t.leave(st.path, "left out: "+err.Error())
		}
		return nil
	}
	content, err := next()
	if err != nil {
		return err
	}
	switch now, err := where.Lstat(st.path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case now.IsDir() && (st.oldMode == modeRepo || where.Remove(st.path) != nil):
		t.leave(st.path, "left out: a folder with other files is in the way")
		return nil
	case now.IsDir(): // it was empty and is gone
	case st.oldMode == "":
		t.leave(st.path, "left as it is: ignored or not saved")
		return nil
	default:
		if err := unchanged(where, st); err != nil {
			return err
		}
	}
	if st.newMode == modeLink {
		var target strings.Builder
		if _, err := io.Copy(&target, io.LimitReader(content, 64<<10)); err != nil {
			return err
		}
		err = where.PutLink(st.path, target.String())
	} else {
		err = where.PutFile(st.path, content, st.newMode == "100755", st.old)
	}
	if errors.Is(err, disk.ErrInTheWay) {
		t.leave(st.path, "left out: an ignored file or link is in the way of its folder")
		return nil
	}
	return err
}
