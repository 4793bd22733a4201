package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/ground/atomicfile"
)

// Add creates a worktree with the files of a snapshot, on a new branch at the commit that was HEAD when the snapshot
// was taken: what was uncommitted then is uncommitted in it, what was untracked is untracked. An existing branch of
// that name is reused if it is at that very commit and checked out in no worktree.
//
// The worktree's metadata is on disk when Add returns, and so are its branch and the snapshot. Its files are synced in
// the background, since they can be recreated; until then Repair checks whether a power cut emptied some.
func (k *Keeper) Add(ctx context.Context, id thread.ID, dir, name string, at thread.Snapshot) (thread.Worktree, error) {
	made, err := k.add(ctx, id, dir, name, at)
	if err != nil {
		return thread.Worktree{}, fmt.Errorf("add worktree: %w", err)
	}
	return made, nil
}

func (k *Keeper) add(ctx context.Context, id thread.ID, dir, name string, at thread.Snapshot) (thread.Worktree, error) {
	if err := repository.CheckID(id); err != nil {
		return thread.Worktree{}, err
	}
	if err := git.CheckBranch(name); err != nil {
		return thread.Worktree{}, err
	}
	if strings.Contains(name, "/") {
		return thread.Worktree{}, thread.Kindf(thread.ErrInvalid, "worktree name %q contains a slash", name)
	}
	w, err := k.Finder.Open(ctx, dir)
	if err != nil {
		return thread.Worktree{}, err
	}
	if !git.IsObjectID(at.Tree) || !git.IsObjectID(at.Commit) {
		if at.Tree, err = w.Repo.SnapshotTree(ctx, at); err != nil {
			return thread.Worktree{}, err
		}
	}
	made := thread.Worktree{Path: filepath.Join(w.Repo.Trees, name), Branch: repository.BranchPrefix + name, Base: at.Base}
	o := repository.Operation{Kind: repository.KindAdd, Thread: id, Worktree: name, Base: at.Base, Commit: at.Commit}
	if o.NewBranch, o.Ref, err = free(ctx, w.Repo, id, made); err != nil {
		return thread.Worktree{}, err
	}
	if err := os.MkdirAll(w.Repo.Trees, 0o700); err != nil {
		return thread.Worktree{}, err
	}
	j, err := w.Repo.Journals.Begin(o)
	if err != nil {
		return thread.Worktree{}, err
	}
	failpoint.Hit("snapshot.add.begun")
	n, err := k.fill(ctx, w, j.Operation, made, at)
	if err != nil {
		j.Leave()
		// The context may be what failed: the rollback must not depend on it.
		if back := k.rollBackAdd(context.WithoutCancel(ctx), w.Repo, j.Operation); back != nil {
			return thread.Worktree{}, errors.Join(err, fmt.Errorf("roll back: %w", back))
		}
		return thread.Worktree{}, errors.Join(err, j.End())
	}
	failpoint.Hit("snapshot.add.filled")
	if err := j.End(); err != nil {
		return thread.Worktree{}, err
	}
	k.settling.Go(func() { settle(context.WithoutCancel(ctx), n) })
	return made, nil
}

// free makes sure that folder and branch can be used, and returns whether to create the branch and the thread's next
// ref.
func free(
	ctx context.Context, repo *repository.Repository, id thread.ID, made thread.Worktree,
) (newBranch bool, next string, err error) {
	if _, err := os.Lstat(made.Path); err == nil {
		return false, "", fmt.Errorf("folder %s: %w", made.Path, thread.ErrNameTaken)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, "", err
	}
	refs, err := repo.Refs(ctx, "refs/heads/", repository.Namespace+string(id)+"/")
	if err != nil {
		return false, "", err
	}
	newBranch, err = branchFree(ctx, repo, made, refs)
	return newBranch, repository.RefName(id, repo.SkipTaken(id, repository.NextNumber(refs, id))), err
}

// branchFree returns whether to create the branch, because it does not exist.
func branchFree(
	ctx context.Context, repo *repository.Repository, o thread.Worktree, refs map[string]string,
) (bool, error) {
	want := "refs/heads/" + o.Branch
	for ref, tip := range refs {
		switch {
		case ref == want:
			if err := checkReusable(ctx, repo, o, tip); err != nil {
				return false, err
			}
			return false, nil
		case strings.EqualFold(ref, want):
			return false, fmt.Errorf("branch %s differs from %s only in case: %w",
				strings.TrimPrefix(ref, "refs/heads/"), o.Branch, thread.ErrNameTaken)
		case strings.EqualFold(ref+"/", "refs/heads/"+repository.BranchPrefix):
			own := strings.TrimPrefix(ref, "refs/heads/")
			return false, thread.Hint(fmt.Errorf("branch %s conflicts with %s, as git keeps no branch below another: %w",
				own, o.Branch, thread.ErrNameTaken), fmt.Sprintf("rename it with `git branch -m %s NAME`, or use --no-worktree", own))
		case strings.HasPrefix(ref, want+"/"):
			return false, fmt.Errorf("branch %s conflicts with %s: %w",
				strings.TrimPrefix(ref, "refs/heads/"), o.Branch, thread.ErrNameTaken)
		}
	}
	return true, nil
}

// checkReusable returns an error unless an existing branch may be reused.
func checkReusable(ctx context.Context, repo *repository.Repository, o thread.Worktree, tip string) error {
	if tip != o.Base {
		return fmt.Errorf("branch %s points to another commit: %w", o.Branch, thread.ErrNameTaken)
	}
	unlock, err := repo.LockAll(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	out, err := repo.Live(ctx, git.Call{Args: []string{"worktree", "list", "--porcelain"}})
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		if strings.TrimSuffix(line, "\n") == "branch refs/heads/"+o.Branch {
			return fmt.Errorf("branch %s is checked out in another worktree: %w", o.Branch, thread.ErrNameTaken)
		}
	}
	return nil
}

// fill creates the worktree, its files, its index, its private index, its record and its marker.
func (k *Keeper) fill(
	ctx context.Context, w *repository.Worktree, o repository.Operation, made thread.Worktree, at thread.Snapshot,
) (*repository.Worktree, error) {
	files, err := register(ctx, w.Repo, o, made, at)
	if err != nil {
		return nil, err
	}
	failpoint.Hit("snapshot.add.registered")
	n, err := k.Finder.openLike(ctx, made.Path, w)
	if err != nil {
		return nil, err
	}
	unlock, err := n.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	r := record{
		ID: o.ID, Name: n.Name(), Root: n.Git.Root, Thread: o.Thread, Branch: made.Branch, Base: at.Base, Commit: at.Commit,
		Reused: !o.NewBranch && at.Base != "",
	}
	if err := keepRecord(n.Home, r); err != nil {
		return nil, err
	}
	if err := checkOut(ctx, n, files.tree); err != nil {
		return nil, err
	}
	failpoint.Hit("snapshot.add.checkedout")
	if err := both(
		func() error { return startIndex(ctx, n, files, at) },
		func() error { return keepMarker(n, r) },
	); err != nil {
		return nil, err
	}
	if err := syncPart(n); err != nil {
		return nil, err
	}
	failpoint.Hit("snapshot.add.indexed")
	if files.tree != at.Tree {
		return n, nil // the private index is not the snapshot's
	}
	return n, n.Hold(repository.Held{Thread: o.Thread, Ref: o.Ref, Commit: at.Commit, Tree: at.Tree, Base: at.Base})
}

// both runs two functions concurrently.
func both(a, b func() error) error {
	var wg sync.WaitGroup
	var errA, errB error
	wg.Go(func() { errA = a() })
	errB = b()
	wg.Wait()
	return errors.Join(errA, errB)
}

// register creates the refs, in one transaction, and the worktree without files. It returns the files to put into it.
func register(
	ctx context.Context, repo *repository.Repository, o repository.Operation, made thread.Worktree, at thread.Snapshot,
) (contents, error) {
	lines := "create " + o.Ref + "\x00" + at.Commit + "\x00"
	if at.Base != "" && o.NewBranch {
		lines += "create refs/heads/" + made.Branch + "\x00" + at.Base + "\x00"
	}
	from := at.Base
	if from == "" {
		from = at.Commit // no commits yet: HEAD is set below, before anybody looks
	}
	var files contents
	err := both(
		func() (err error) {
			files, err = contentsOf(ctx, repo, at)
			return errors.Join(err, repo.UpdateRefs(ctx, lines))
		},
		func() error { return addEmpty(ctx, repo, made.Path, from) },
	)
	if err != nil {
		return files, err
	}
	failpoint.Hit("snapshot.add.referenced")
	n, err := git.Find(made.Path)
	if err != nil {
		return files, err
	}
	return files, setHead(ctx, repo, n, "refs/heads/"+made.Branch)
}

// tries is how often creating a worktree is retried while the person's own git is about to create one.
const tries = 3

// addEmpty creates a detached worktree without files.
func addEmpty(ctx context.Context, repo *repository.Repository, root, from string) error {
	unlock, err := repo.LockAll(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	// git creates the folder, but not through a dangling link.
	if err := os.Mkdir(filepath.Join(repo.Git.Common, "worktrees"), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for try := 1; ; try++ {
		_, err := repo.Theirs(ctx, git.Call{Args: []string{
			"worktree", "add", "--quiet", "--no-checkout", "--detach", "--", root, from,
		}})
		if err == nil {
			return linkGitFile(root)
		}
		var said *git.Error
		if try == tries || !errors.As(err, &said) || !strings.Contains(said.Stderr, "commondir") {
			return err // otherwise the person's own git was about to create one
		}
	}
}

// linkGitFile points a new worktree's .git file to the repository; git wrote the view there.
func linkGitFile(root string) error {
	n, err := git.Find(root) // follows the view's link
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(root, ".git"), []byte("gitdir: "+n.GitDir+"\n"), false)
}

// setHead puts a new worktree on a branch, unborn or not. If refs are files it writes the one line itself.
func setHead(ctx context.Context, repo *repository.Repository, n git.Worktree, ref string) error {
	head := filepath.Join(n.GitDir, "HEAD")
	b, err := os.ReadFile(head)
	if err != nil {
		return err
	}
	if git.IsObjectID(strings.TrimSpace(string(b))) {
		return atomicfile.Write(head, []byte("ref: "+ref+"\n"), false)
	}
	_, err = repo.TheirsIn(ctx, n, git.Call{Args: []string{"symbolic-ref", "HEAD", ref}})
	return err
}

// syncPart syncs a worktree's metadata: git syncs none of it.
func syncPart(w *repository.Worktree) error {
	for _, path := range []string{
		filepath.Join(w.Git.Root, ".git"), filepath.Join(w.Git.GitDir, "HEAD"), filepath.Join(w.Git.GitDir, "commondir"),
		filepath.Join(w.Git.GitDir, "gitdir"), filepath.Join(w.Git.GitDir, "index"),
		w.Git.Root, filepath.Dir(w.Git.Root), w.Git.GitDir, filepath.Dir(w.Git.GitDir), w.Home, filepath.Dir(w.Home),
	} {
		if err := atomicfile.SyncDir(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // the index of an unborn branch
			return fmt.Errorf("sync worktree: %w", err)
		}
	}
	return nil
}

// settle syncs the files of a new worktree and records that they are on disk. If it fails, Repair takes care of them.
func settle(ctx context.Context, w *repository.Worktree) {
	if disk.SyncTree(w.Git.Root) != nil {
		return
	}
	unlock, err := w.Lock(ctx)
	if err != nil {
		return // it was removed
	}
	defer unlock()
	if r, err := recordAt(w.Home); err == nil && r.Name == w.Name() {
		r.Settled = true
		_ = keepRecord(w.Home, r)
	}
}
