package snapshot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread/failpoint"
)

// carryOut removes what the target has not, then writes what it has.
func (w *worktree) carryOut(ctx context.Context, where *place, t *todo) error {
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
	missing, err := w.missing(ctx, oids)
	if err != nil {
		return err
	}
	oids = slices.DeleteFunc(oids, func(oid string) bool { return missing[oid] })
	return w.blobs(ctx, oids, func(next func() (io.Reader, error)) error {
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

// missing returns the blobs that a partial clone lacks; a whole one lacks none.
func (w *worktree) missing(ctx context.Context, oids []string) (map[string]bool, error) {
	if !w.set.Partial {
		return nil, nil
	}
	entries := make([]entry, 0, len(oids))
	for _, oid := range oids {
		entries = append(entries, entry{oid: oid})
	}
	sizes, err := w.blobSizes(ctx, entries)
	lacks := map[string]bool{}
	for _, oid := range oids {
		if _, have := sizes[oid]; !have {
			lacks[oid] = true
		}
	}
	return lacks, err
}

// takeAway removes one file, and the folders that are empty then and that nothing needs.
func (t *todo) takeAway(where *place, st *todoStep, need map[string]bool) error {
	if st.oldMode == modeRepo {
		t.leave(st.path, "left as it is: a submodule")
		return nil
	}
	if st.old != nil {
		if err := unchanged(where, st); err != nil {
			return err
		}
		if err := where.remove(st.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for dir := path.Dir(st.path); dir != "." && !need[dir]; dir = path.Dir(dir) {
		if where.remove(dir) != nil {
			break // not empty: something ignored, or another file of the snapshot
		}
	}
	return nil
}

// unchanged makes sure that a path is as the safety snapshot saw it.
func unchanged(where *place, st *todoStep) error {
	now, err := where.lstat(st.path)
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
func (t *todo) write(where *place, st *todoStep, next func() (io.Reader, error)) error {
	if st.newMode == modeRepo {
		if st.oldMode != "" {
			t.leave(st.path, "left as it is: a submodule")
			return nil
		}
		if err := where.mkdir(st.path); err != nil {
			t.leave(st.path, "left out: "+err.Error())
		}
		return nil
	}
	content, err := next()
	if err != nil {
		return err
	}
	switch now, err := where.lstat(st.path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case now.IsDir() && (st.oldMode == modeRepo || where.remove(st.path) != nil):
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
		err = where.link(st.path, target.String())
	} else {
		err = where.file(st.path, content, st.newMode == "100755", st.old)
	}
	if errors.Is(err, errInTheWay) {
		t.leave(st.path, "left out: an ignored file or link is in the way of its folder")
		return nil
	}
	return err
}

// blobs reads blobs in order: each call of next returns the next one's content, which ends before the following
// call and need not be read.
func (w *worktree) blobs(ctx context.Context, oids []string, use func(next func() (io.Reader, error)) error) error {
	return w.blobsIn(ctx, nil, oids, use)
}

// blobsIn does so with further environment.
func (w *worktree) blobsIn(ctx context.Context, env, oids []string, use func(next func() (io.Reader, error)) error) error {
	if len(oids) == 0 {
		return use(func() (io.Reader, error) { return nil, io.EOF })
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() { // ends with git: when use is done the pipe is closed and the context with it
		_, err := w.ours(ctx, git.Call{
			Args: []string{"cat-file", "--batch"}, Stdin: strings.NewReader(strings.Join(oids, "\n") + "\n"), Stdout: in, Env: env,
		})
		in.CloseWithError(err)
		done <- err
	}()
	r := &batch{r: bufio.NewReaderSize(out, 64<<10)}
	err := use(r.next)
	if err == nil {
		_, err = io.Copy(io.Discard, r.r) // let git come to its end
	}
	_ = out.Close()
	cancel()
	if ended := <-done; err == nil && ended != nil && !errors.Is(ended, context.Canceled) {
		err = ended
	}
	return err
}

// batch reads what `cat-file --batch` writes: "<oid> blob <size>\n<content>\n".
type batch struct {
	r    *bufio.Reader
	body *io.LimitedReader
}

func (b *batch) next() (io.Reader, error) {
	if b.body != nil {
		if _, err := io.Copy(io.Discard, b.body); err != nil {
			return nil, err
		}
		if _, err := b.r.Discard(1); err != nil {
			return nil, err
		}
	}
	line, err := b.r.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("read blob: %w", err)
	}
	f := strings.Fields(line)
	if len(f) != 3 || f[1] != "blob" {
		return nil, fmt.Errorf("read blob: git cat-file wrote %q", git.Printable(strings.TrimSpace(line)))
	}
	n, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read blob: %w", err)
	}
	b.body = &io.LimitedReader{R: b.r, N: n}
	return &whole{b.body}, nil
}

// whole turns an early end into an error: a file is never written short.
type whole struct{ r *io.LimitedReader }

func (w *whole) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if errors.Is(err, io.EOF) && w.r.N > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
