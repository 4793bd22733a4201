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
	"orchestrator/checkpoint/repository"
	"orchestrator/thread/failpoint"
)

// ErrChanged means that files changed during a restore. What was restored so far is rolled back.
var ErrChanged = errors.New("a file changed in the meantime")

// carryOut removes what the target lacks, then writes its files.
func (w files) carryOut(ctx context.Context, where *disk.Place, t *todo) error {
	need := t.parents()
	for i := len(t.steps) - 1; i >= 0; i-- { // deeper paths first
		st := &t.steps[i]
		if st.NewMode != "" {
			continue
		}
		left := len(t.left)
		if err := t.removeFile(where, st, need); err != nil {
			return fmt.Errorf("remove %s: %w", git.Printable(st.Path), err)
		}
		st.done = left == len(t.left)
		failpoint.Hit("snapshot.restore.removed")
	}
	var oids []string
	for _, st := range t.steps {
		if st.NewMode != "" && st.NewMode != repository.ModeRepo {
			oids = append(oids, st.NewOID)
		}
	}
	missing, err := w.work.Repo.Missing(ctx, oids)
	if err != nil {
		return err
	}
	oids = slices.DeleteFunc(oids, func(oid string) bool { return missing[oid] })
	return w.work.Repo.Blobs(ctx, nil, oids, func(next func() (io.Reader, error)) error {
		for i := range t.steps {
			st := &t.steps[i]
			if st.NewMode == "" {
				continue
			}
			if st.NewMode != repository.ModeRepo && missing[st.NewOID] {
				t.leave(st.Path, "left alone: this partial clone never fetched it")
				continue
			}
			left := len(t.left)
			if err := t.write(where, st, next); err != nil {
				return fmt.Errorf("write %s: %w", git.Printable(st.Path), err)
			}
			st.done = left == len(t.left)
			failpoint.Hit("snapshot.restore.wrote")
		}
		return nil
	})
}

// removeFile removes one file, and folders that become empty and are not needed.
func (t *todo) removeFile(where *disk.Place, st *todoStep, need map[string]bool) error {
	if st.OldMode == repository.ModeRepo {
		t.leave(st.Path, "left alone: a submodule")
		return nil
	}
	if st.old != nil {
		if err := unchanged(where, st); err != nil {
			return err
		}
		if err := where.Remove(st.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for dir := path.Dir(st.Path); dir != "." && !need[dir]; dir = path.Dir(dir) {
		if where.Remove(dir) != nil {
			break // not empty: something ignored, or another file of the snapshot
		}
	}
	return nil
}

// unchanged makes sure that a path is as in the safety snapshot.
func unchanged(where *disk.Place, st *todoStep) error {
	now, err := where.Lstat(st.Path)
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

// write puts one file of the target in place, unless something unsaved is there.
func (t *todo) write(where *disk.Place, st *todoStep, next func() (io.Reader, error)) error {
	if st.NewMode == repository.ModeRepo {
		if st.OldMode != "" {
			t.leave(st.Path, "left alone: a submodule")
			return nil
		}
		if err := where.Mkdir(st.Path); err != nil {
			t.leave(st.Path, "left out: "+err.Error())
		}
		return nil
	}
	content, err := next()
	if err != nil {
		return err
	}
	switch now, err := where.Lstat(st.Path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case now.IsDir() && (st.OldMode == repository.ModeRepo || where.Remove(st.Path) != nil):
		t.leave(st.Path, "left out: a folder with other files is in the way")
		return nil
	case now.IsDir(): // it was empty and is gone
	case st.OldMode == "":
		t.leave(st.Path, "left alone: ignored or not saved")
		return nil
	default:
		if err := unchanged(where, st); err != nil {
			return err
		}
	}
	if st.NewMode == repository.ModeLink {
		var target strings.Builder
		if _, err := io.Copy(&target, io.LimitReader(content, 64<<10)); err != nil {
			return err
		}
		err = where.PutLink(st.Path, target.String())
	} else {
		err = where.PutFile(st.Path, content, st.NewMode == "100755", st.old)
	}
	if errors.Is(err, disk.ErrInTheWay) {
		t.leave(st.Path, "left out: an ignored file or link is in the way of its folder")
		return nil
	}
	return err
}
