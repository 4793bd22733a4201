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

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// Repair finishes or takes back what was cut off, links again what was moved, rebuilds what a power cut emptied, and
// says what it did, for people. What cannot be set right stays pending and is named; the others go on.
func (s *Store) Repair(ctx context.Context) ([]string, error) {
	all, said, err := s.finder.folders()
	if err != nil {
		return nil, fmt.Errorf("repair worktrees: %w", err)
	}
	for _, f := range all {
		did, err := s.repair(ctx, f)
		said = append(said, did...)
		switch {
		case err == nil, errors.Is(err, thread.ErrNoRepository), errors.Is(err, thread.ErrNotFound):
		case ctx.Err() != nil || f.key == ownRepository:
			return said, fmt.Errorf("repair worktrees: %w", err)
		default:
			said = append(said, fmt.Sprintf("could not check the worktrees of %s: %v", f.dir, err))
		}
	}
	return said, nil
}

func (s *Store) repair(ctx context.Context, f folder) (said []string, err error) {
	if err := sweepOdd(filepath.Join(s.cfg.State, f.key)); err != nil {
		return nil, err
	}
	w, err := s.finder.open(ctx, f.dir)
	if err != nil {
		return nil, err
	}
	said, err = s.finder.relink(ctx, w.repo, f.key)
	if err != nil {
		return said, err
	}
	ops, refused, err := w.repo.journals.left()
	said = append(said, refused...)
	if err != nil {
		return said, err
	}
	for _, o := range ops {
		did, err := s.finish(ctx, w.repo, o)
		if err != nil {
			if ctx.Err() != nil {
				return said, err
			}
			did = fmt.Sprintf("could not finish to %s %s, begun %s: %v",
				o.Kind, w.repo.called(o), o.Started.Format(time.DateTime), err)
		}
		said = append(said, did)
	}
	rebuilt, err := s.finder.rebuild(ctx, w.repo, f.key)
	return append(said, rebuilt...), err
}

// called is what an operation works on, for people.
func (repo *repository) called(o op) string {
	if o.Worktree == "" {
		return mainRoot(repo.Worktree)
	}
	return "worktree " + git.Printable(o.Worktree)
}

// finish sets one operation right and says what was done.
func (s *Store) finish(ctx context.Context, repo *repository, o op) (string, error) {
	switch o.Kind {
	case opRestore:
		return s.finishRestore(ctx, repo, o)
	case opAdd:
		if err := s.takeBack(ctx, repo, o); err != nil {
			return "", err
		}
		return "took back the half-made worktree " + filepath.Join(repo.trees, o.Worktree), repo.journals.forget(o)
	case opRemove:
		return s.finishRemove(ctx, repo, o)
	}
	return "", fmt.Errorf("journal of a kind %q: %w", o.Kind, thread.ErrDamaged)
}

// rootOf is where the repository says that the worktree of an operation lies, "" where it knows none.
func (repo *repository) rootOf(o op) (string, error) {
	if o.Worktree == "" {
		return mainRoot(repo.Worktree), nil
	}
	all, err := repo.registered()
	for _, r := range all {
		if r.gitDir == repo.part(o.Worktree) {
			return r.path, nil
		}
	}
	return "", err
}

func (s *Store) finishRestore(ctx context.Context, repo *repository, o op) (string, error) {
	root, err := repo.rootOf(o)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(root); errors.Is(err, fs.ErrNotExist) {
		return "forgot a restore of " + repo.called(o) + ", which is gone", repo.journals.forget(o)
	}
	w, err := s.finder.open(ctx, root)
	if err != nil {
		return "", err
	}
	if w.Common != repo.Common || w.name() != o.Worktree {
		return "", fmt.Errorf("%s: %w", root, ErrNotOurs)
	}
	safety, err := s.restore(ctx, w, o, *o.Target)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("finished restoring the files of %s; what was there is kept as %.12s", root, safety.Commit), nil
}

func (s *Store) finishRemove(ctx context.Context, repo *repository, o op) (string, error) {
	if _, err := os.Lstat(repo.part(o.Worktree)); err == nil {
		if _, err := repo.recordOf(o.Worktree); err != nil {
			return "", err // not made by us, or not any more
		}
	}
	root, err := repo.rootOf(o)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(root); root != "" && err == nil {
		w, err := s.finder.open(ctx, root)
		if err != nil {
			return "", err
		}
		if w.GitDir != repo.part(o.Worktree) { // another worktree stands there by now
			return "left " + root + " as it is", repo.journals.forget(o)
		}
		if _, err := s.clear(ctx, w, op{Thread: o.Thread, Branch: o.Branch, Base: o.Base}); err != nil {
			return "", err
		}
	} else if err := s.sweep(ctx, repo, o); err != nil {
		return "", err
	}
	return "finished to remove the " + repo.called(o), repo.journals.forget(o)
}

// unlockBranch takes away the lock of a branch that a killed git was about to make for us, after giving a git that
// goes on without us the time to end.
func (repo *repository) unlockBranch(ctx context.Context, branch string) error {
	if branch == "" {
		return nil
	}
	lock := filepath.Join(repo.Common, "refs/heads", branch+".lock")
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
func (s *Store) takeBack(ctx context.Context, repo *repository, o op) error {
	all, err := repo.registered()
	if err != nil {
		return err
	}
	root, gitDir := filepath.Join(repo.trees, o.Worktree), ""
	for _, r := range all {
		if r.path == root {
			gitDir = r.gitDir
		}
	}
	branch := branchPrefix + o.Worktree
	if !o.NewBranch {
		branch = "" // it was there before
	}
	if err := repo.unlockBranch(ctx, branch); err != nil {
		return err
	}
	w, err := s.finder.open(ctx, root)
	if err == nil && w.Root == root && w.GitDir == gitDir {
		_, err := s.clear(ctx, w, op{Thread: o.Thread, Branch: branch, Base: o.Base})
		if err == nil {
			return repo.dropRef(ctx, o)
		}
		if !barren(root) {
			return err
		}
	}
	if !barren(root) {
		return thread.Hint(fmt.Errorf("%s holds files and is no whole worktree: %w", root, thread.ErrDamaged),
			"move what you need out of it, then delete it")
	}
	if err := repo.dropRef(ctx, o); err != nil {
		return err
	}
	if err := disk.RemoveIn(repo.trees, o.Worktree); err != nil {
		return err
	}
	unlock, err := repo.lockAll(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if gitDir != "" {
		if err := repo.strike(filepath.Base(gitDir)); err != nil {
			return err
		}
		if err := disk.RemoveIn(repo.commonState(), disk.Short(filepath.Base(gitDir))); err != nil {
			return err
		}
	}
	return s.dropBranch(ctx, git.Worktree{Root: repo.Root, GitDir: repo.Common, Common: repo.Common}, branch, o.Base)
}

// dropRef takes back the ref that an add made for the snapshot, which another one keeps still, as before, and
// those of the snapshots that taking it back made, unless they hold a file that the first has not.
func (repo *repository) dropRef(ctx context.Context, o op) error {
	refs, err := repo.refs(ctx, namespace+string(o.Thread)+"/")
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
			adds, err := repo.adds(ctx, o.Commit, commit)
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
	return repo.updateRefs(ctx, lines.String())
}

// adds reports whether one snapshot holds anything that another has not. A file that begins as the other's and then
// ends is one that a killed checkout did not write to its end: it adds nothing.
func (repo *repository) adds(ctx context.Context, first, second string) (bool, error) {
	list, err := repo.between(ctx, first, second)
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
	err = repo.blobs(ctx, cut, func(next func() (io.Reader, error)) error {
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
