package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// Repair finishes or takes back what was cut off and says what it did, for people. An operation that cannot be set
// right stays pending and is named; the others go on.
func (s *Store) Repair(ctx context.Context) ([]string, error) {
	var said []string
	err := s.eachLeft(ctx, func(w *worktree, o op) error {
		did, err := s.finish(ctx, w, o)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			did = fmt.Sprintf("could not finish to %s %s, begun %s: %v",
				o.Kind, o.Root, o.Started.Format(time.DateTime), err)
		}
		said = append(said, did)
		return nil
	})
	if err != nil {
		return said, fmt.Errorf("repair worktrees: %w", err)
	}
	return said, nil
}

func (s *Store) eachLeft(ctx context.Context, do func(*worktree, op) error) error {
	return s.each(ctx, func(w *worktree) error {
		ops, err := w.left()
		if err != nil {
			return err
		}
		for _, o := range ops {
			if err := do(w, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// finish sets one operation right and says what was done.
func (s *Store) finish(ctx context.Context, repo *worktree, o op) (string, error) {
	switch o.Kind {
	case opRestore:
		return s.finishRestore(ctx, repo, o)
	case opAdd:
		if err := s.takeBack(ctx, repo, o); err != nil {
			return "", err
		}
		return "took back the half-made worktree " + o.Root, repo.forget(o)
	case opRemove:
		return s.finishRemove(ctx, repo, o)
	}
	return "", fmt.Errorf("journal of a kind %q: %w", o.Kind, thread.ErrDamaged)
}

// forget takes away the journal of an operation that is settled.
func (w *worktree) forget(o op) error {
	err := os.Remove(filepath.Join(w.journals(), o.ID+".json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (s *Store) finishRestore(ctx context.Context, repo *worktree, o op) (string, error) {
	if _, err := os.Lstat(o.Root); errors.Is(err, fs.ErrNotExist) {
		return "forgot a restore of " + o.Root + ", which is gone", repo.forget(o)
	}
	w, err := s.open(ctx, o.Root)
	if err != nil {
		return "", err
	}
	if o.Target == nil {
		return "", fmt.Errorf("journal %s: %w", o.ID, thread.ErrDamaged)
	}
	safety, err := s.restore(ctx, w, o, *o.Target)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("finished to restore the files of %s; what was there is kept as %.12s", o.Root, safety.Commit), nil
}

func (s *Store) finishRemove(ctx context.Context, repo *worktree, o op) (string, error) {
	if _, err := os.Lstat(o.Root); err == nil {
		w, err := s.open(ctx, o.Root)
		if err != nil {
			return "", err
		}
		if w.GitDir != o.GitDir { // another worktree stands there by now
			return "left " + o.Root + " as it is", repo.forget(o)
		}
		if _, err := s.clear(ctx, w, op{Thread: o.Thread, Root: w.Root, Branch: o.Branch, Base: o.Base, GitDir: w.GitDir}); err != nil {
			return "", err
		}
	} else if err := s.sweep(ctx, repo, o); err != nil {
		return "", err
	}
	return "finished to remove the worktree " + o.Root, repo.forget(o)
}

// unlockBranch takes away the lock of a branch that a killed git was about to make for us, after giving a git that
// goes on without us the time to end.
func (w *worktree) unlockBranch(ctx context.Context, branch string) error {
	if branch == "" {
		return nil
	}
	lock := filepath.Join(w.Common, "refs/heads", branch+".lock")
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		if _, err := os.Lstat(lock); err != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// takeBack removes a worktree that was made in part. What it holds is saved first, as in Remove.
func (s *Store) takeBack(ctx context.Context, repo *worktree, o op) error {
	all, err := repo.registered()
	if err != nil {
		return err
	}
	gitDir := ""
	for _, r := range all {
		if r.path == o.Root {
			gitDir = r.gitDir
		}
	}
	branch := o.Branch
	if !o.NewBranch {
		branch = "" // it was there before
	}
	if err := repo.unlockBranch(ctx, branch); err != nil {
		return err
	}
	w, err := s.open(ctx, o.Root)
	if err == nil && w.Root == o.Root && w.GitDir == gitDir {
		_, err := s.clear(ctx, w, op{Thread: o.Thread, Root: w.Root, Branch: branch, Base: o.Base, GitDir: w.GitDir})
		if err == nil {
			return repo.dropRef(ctx, o)
		}
		if !barren(o.Root) {
			return err
		}
	}
	if !barren(o.Root) {
		return fmt.Errorf("%s holds files and is no whole worktree: remove it yourself", o.Root)
	}
	if err := repo.dropRef(ctx, o); err != nil {
		return err
	}
	if err := os.RemoveAll(o.Root); err != nil {
		return err
	}
	unlock, err := repo.lockAll(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if gitDir != "" {
		if err := strike(gitDir); err != nil {
			return err
		}
	}
	return s.dropBranch(ctx, git.Worktree{Root: repo.Root, GitDir: repo.Common}, op{Branch: branch, Base: o.Base})
}

// dropRef takes back the ref that an add made for the snapshot, which another one keeps still, as before, and
// those of the snapshots that taking it back made, unless they hold a file that the first has not.
func (w *worktree) dropRef(ctx context.Context, o op) error {
	refs, err := w.refs(ctx, namespace+string(o.Thread)+"/")
	if err != nil || o.Ref == "" {
		return err
	}
	first := number(o.Ref)
	var lines strings.Builder
	for ref, commit := range refs {
		switch n := number(ref); {
		case n < first:
			continue // the thread had it before
		case commit != o.Commit:
			adds, err := w.adds(ctx, o.Commit, commit)
			if err != nil {
				return err
			}
			if adds {
				continue
			}
		}
		lines.WriteString("delete " + ref + "\x00" + commit + "\x00")
	}
	if lines.Len() == 0 {
		return nil
	}
	return w.updateRefs(ctx, lines.String())
}

// adds reports whether one snapshot holds anything that another has not. A file that begins as the other's and then
// ends is one that a killed checkout did not write to its end: it adds nothing.
func (w *worktree) adds(ctx context.Context, first, second string) (bool, error) {
	list, err := w.between(ctx, first, second)
	if err != nil {
		return false, err
	}
	var cut []string
	for _, st := range list.steps {
		switch {
		case st.newMode == "":
		case st.oldMode != st.newMode || !strings.HasPrefix(st.newMode, "100"):
			return true, nil
		default:
			cut = append(cut, st.oid, st.oldOID)
		}
	}
	adds := false
	err = w.blobs(ctx, cut, func(next func() (io.Reader, error)) error {
		for range len(cut) / 2 {
			begins, err := beginsWith(next)
			if err != nil || !begins {
				adds = true
				return err
			}
		}
		return nil
	})
	return adds, err
}

// beginsWith reads two blobs and reports whether the second begins with the first.
func beginsWith(next func() (io.Reader, error)) (bool, error) {
	const most = 8 << 20
	short, err := next()
	if err != nil {
		return false, err
	}
	head, err := io.ReadAll(io.LimitReader(short, most))
	if err != nil || len(head) == most {
		return false, err
	}
	long, err := next()
	if err != nil {
		return false, err
	}
	begin, err := io.ReadAll(io.LimitReader(long, int64(len(head))))
	return bytes.Equal(head, begin), err
}

// barren reports whether a folder is missing or holds at most a .git file.
func barren(dir string) bool {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && (len(entries) == 0 || (len(entries) == 1 && entries[0].Name() == ".git" && entries[0].Type().IsRegular()))
}
