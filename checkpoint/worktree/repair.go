package worktree

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
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
)

// Repair completes or rolls back interrupted operations, relinks what was moved, rebuilds what a power cut emptied, and
// returns what it did, for people. What cannot be repaired stays pending and is reported; the rest continues.
func (k *Keeper) Repair(ctx context.Context) ([]string, error) {
	all, said, err := k.Finder.folders()
	if err != nil {
		return nil, fmt.Errorf("repair worktrees: %w", err)
	}
	for _, f := range all {
		did, err := k.repair(ctx, f)
		said = append(said, did...)
		switch {
		case err == nil, errors.Is(err, thread.ErrNoRepository), errors.Is(err, thread.ErrNotFound):
		case ctx.Err() != nil || f.key == ownRepository:
			return said, fmt.Errorf("repair worktrees: %w", err)
		default:
			said = append(said, fmt.Sprintf("cannot check the worktrees of %s: %v", f.dir, err))
		}
	}
	return said, nil
}

func (k *Keeper) repair(ctx context.Context, f folder) (said []string, err error) {
	if err := sweepOdd(filepath.Join(k.Finder.state, f.key)); err != nil {
		return nil, err
	}
	if idle, err := k.idle(f.key); idle || err != nil {
		return nil, err
	}
	w, err := k.Finder.Open(ctx, f.dir)
	if err != nil {
		return nil, err
	}
	said, err = k.Finder.relink(ctx, w.Repo, f.key)
	if err != nil {
		return said, err
	}
	ops, refused, err := w.Repo.Journals.Left()
	said = append(said, refused...)
	if err != nil {
		return said, err
	}
	for _, o := range ops {
		did, err := k.finish(ctx, w.Repo, o)
		if err != nil {
			if ctx.Err() != nil {
				return said, err
			}
			did = fmt.Sprintf("cannot complete the %s of %s, begun %s: %v",
				o.Kind, called(w.Repo, o), o.Started.Format(time.DateTime), err)
		}
		said = append(said, did)
	}
	rebuilt, err := k.Finder.rebuild(ctx, w.Repo, f.key)
	return append(said, rebuilt...), err
}

// idle reports whether our state of a repository has no worktree and no operation: nothing of ours can need repair, and
// git is not asked.
func (k *Keeper) idle(key string) (bool, error) {
	records, damaged, err := k.Finder.records(key)
	if err != nil || len(records)+len(damaged) > 0 {
		return false, err
	}
	return repository.Quiet(k.Finder.state, key), nil
}

// called names what an operation works on, for people.
func called(repo *repository.Repository, o repository.Operation) string {
	if o.Worktree == "" {
		return mainRoot(repo.Git)
	}
	return "worktree " + git.Printable(o.Worktree)
}

// finish completes one operation or rolls it back, and returns what was done.
func (k *Keeper) finish(ctx context.Context, repo *repository.Repository, o repository.Operation) (string, error) {
	switch o.Kind {
	case repository.KindRestore:
		return k.finishRestore(ctx, repo, o)
	case repository.KindAdd:
		if err := k.rollBackAdd(ctx, repo, o); err != nil {
			return "", err
		}
		return "rolled back the incomplete worktree " + filepath.Join(repo.Trees, o.Worktree), repo.Journals.Forget(o)
	case repository.KindRemove:
		return k.finishRemove(ctx, repo, o)
	}
	return "", fmt.Errorf("journal of unknown kind %q: %w", o.Kind, thread.ErrDamaged)
}

// rootOf is the path that the repository has for the worktree of an operation, "" if it has none.
func rootOf(repo *repository.Repository, o repository.Operation) (string, error) {
	if o.Worktree == "" {
		return mainRoot(repo.Git), nil
	}
	all, err := registeredIn(repo)
	for _, r := range all {
		if r.gitDir == repo.Part(o.Worktree) {
			return r.path, nil
		}
	}
	return "", err
}

func (k *Keeper) finishRestore(
	ctx context.Context, repo *repository.Repository, o repository.Operation,
) (string, error) {
	root, err := rootOf(repo, o)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(root); errors.Is(err, fs.ErrNotExist) {
		return "dropped a restore of " + called(repo, o) + ", which is gone", repo.Journals.Forget(o)
	}
	w, err := k.Finder.Open(ctx, root)
	if err != nil {
		return "", err
	}
	if w.Git.Common != repo.Git.Common || w.Name() != o.Worktree {
		return "", fmt.Errorf("%s: %w", root, ErrNotOurs)
	}
	safety, err := k.saver.Resume(ctx, w, o)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("completed restoring the files of %s; the previous files are kept in commit %.12s", root,
		safety.Commit), nil
}

func (k *Keeper) finishRemove(
	ctx context.Context, repo *repository.Repository, o repository.Operation,
) (string, error) {
	if _, err := os.Lstat(repo.Part(o.Worktree)); err == nil {
		if _, err := recordOf(repo, o.Worktree); err != nil {
			return "", err // not made by us, or no longer
		}
	}
	root, err := rootOf(repo, o)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(root); root != "" && err == nil {
		w, err := k.Finder.Open(ctx, root)
		if err != nil {
			return "", err
		}
		if w.Git.GitDir != repo.Part(o.Worktree) { // another worktree is there now
			return "left " + root + " alone", repo.Journals.Forget(o)
		}
		if _, err := k.clear(ctx, w, repository.Operation{Thread: o.Thread, Branch: o.Branch, Base: o.Base}); err != nil {
			return "", err
		}
	} else if err := k.sweep(ctx, repo, o); err != nil {
		return "", err
	}
	return "completed the removal of " + called(repo, o), repo.Journals.Forget(o)
}

// unlockBranch removes the lock of a branch that a killed git was about to create for us, after giving a git that
// continues without us the time to finish.
func unlockBranch(ctx context.Context, repo *repository.Repository, branch string) error {
	if branch == "" {
		return nil
	}
	lock := filepath.Join(repo.Git.Common, "refs/heads", branch+".lock")
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

// rollBackAdd removes an incomplete worktree. Its content is saved first, as in Remove.
func (k *Keeper) rollBackAdd(ctx context.Context, repo *repository.Repository, o repository.Operation) error {
	all, err := registeredIn(repo)
	if err != nil {
		return err
	}
	root, gitDir := filepath.Join(repo.Trees, o.Worktree), ""
	for _, r := range all {
		if r.path == root {
			gitDir = r.gitDir
		}
	}
	branch := repository.BranchPrefix + o.Worktree
	if !o.NewBranch {
		branch = "" // it existed before
	}
	if err := unlockBranch(ctx, repo, branch); err != nil {
		return err
	}
	w, err := k.Finder.Open(ctx, root)
	if err == nil && w.Git.Root == root && w.Git.GitDir == gitDir {
		_, err := k.clear(ctx, w, repository.Operation{Thread: o.Thread, Branch: branch, Base: o.Base})
		if err == nil {
			return dropRef(ctx, repo, o)
		}
		if !withoutFiles(root) {
			return err
		}
	}
	if !withoutFiles(root) {
		return thread.Hint(fmt.Errorf("%s contains files and is not a complete worktree: %w", root, thread.ErrDamaged),
			"move what you need out of it, then delete it")
	}
	if err := dropRef(ctx, repo, o); err != nil {
		return err
	}
	if err := disk.RemoveIn(repo.Trees, o.Worktree); err != nil {
		return err
	}
	unlock, err := repo.LockAll(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if gitDir != "" {
		if err := unregister(repo, filepath.Base(gitDir)); err != nil {
			return err
		}
		if err := disk.RemoveIn(repo.CommonState(), disk.Short(filepath.Base(gitDir))); err != nil {
			return err
		}
	}
	return k.dropBranch(ctx, git.Worktree{Root: repo.Git.Root, GitDir: repo.Git.Common, Common: repo.Git.Common}, branch, o.Base)
}

// dropRef removes the ref that an add created for the snapshot, which another one still keeps, as before, and those of
// the snapshots that the rollback took, unless they contain a file that the first lacks.
func dropRef(ctx context.Context, repo *repository.Repository, o repository.Operation) error {
	refs, err := repo.Refs(ctx, repository.Namespace+string(o.Thread)+"/")
	if err != nil || o.Ref == "" {
		return err
	}
	first := repository.RefNumber(o.Ref)
	var lines strings.Builder
	for ref, commit := range refs {
		switch n := repository.RefNumber(ref); {
		case n < first:
			continue // the thread had it before
		case commit != o.Commit:
			adds, err := adds(ctx, repo, o.Commit, commit)
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
	return repo.UpdateRefs(ctx, lines.String())
}

// adds reports whether one snapshot contains anything that another lacks. A file that is the beginning of the other's
// was cut off by a killed checkout: it adds nothing.
func adds(ctx context.Context, repo *repository.Repository, first, second string) (bool, error) {
	list, err := repo.Changes(ctx, nil, first, second)
	if err != nil {
		return false, err
	}
	var cut []string
	for _, c := range list {
		switch {
		case c.NewMode == "":
		case c.OldMode != c.NewMode || !strings.HasPrefix(c.NewMode, "100"):
			return true, nil
		default:
			cut = append(cut, c.NewOID, c.OldOID)
		}
	}
	adds := false
	err = repo.Blobs(ctx, nil, cut, func(next func() (io.Reader, error)) error {
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

// withoutFiles reports whether a folder is missing or contains at most a .git file.
func withoutFiles(dir string) bool {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && (len(entries) == 0 ||
		len(entries) == 1 && entries[0].Name() == ".git" && entries[0].Type().IsRegular())
}
