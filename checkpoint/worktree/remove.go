package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/private"
)

// ErrLocked means that a worktree was locked.
var ErrLocked = errors.New("the worktree is locked")

// ErrSubmodules means that a worktree contains repositories that a snapshot only references.
var ErrSubmodules = errors.New("a submodule is checked out in the worktree")

// Remove saves the content of a worktree of ours, files of any size included, and removes it. Its branch is deleted too
// if it was made for it and never left its base; commits stay. Ignored files and others that a snapshot cannot contain are moved to the
// store's trash, which EmptyTrash empties. A worktree whose folder is already gone is only unregistered. One with
// checked-out submodules is left alone, as git does: their commits and files may be nowhere else.
func (k *Keeper) Remove(ctx context.Context, id thread.ID, wt thread.Worktree) (thread.Snapshot, error) {
	snap, err := k.remove(ctx, id, wt)
	if err != nil {
		return snap, fmt.Errorf("remove worktree: %w", err)
	}
	return snap, nil
}

func (k *Keeper) remove(ctx context.Context, id thread.ID, wt thread.Worktree) (thread.Snapshot, error) {
	if err := repository.CheckID(id); err != nil {
		return thread.Snapshot{}, err
	}
	if _, err := os.Lstat(wt.Path); errors.Is(err, fs.ErrNotExist) {
		return thread.Snapshot{}, k.unregisterMissing(ctx, wt.Path)
	}
	w, err := k.Finder.Open(ctx, wt.Path)
	if err != nil {
		return thread.Snapshot{}, err
	}
	if real, err := realParent(wt.Path); err != nil || real != w.Git.Root {
		return thread.Snapshot{}, fmt.Errorf("%s is not the root of a worktree: %w", wt.Path, ErrNotOurs)
	}
	r, err := recordOf(w.Repo, w.Name())
	if err != nil {
		return thread.Snapshot{}, err
	}
	if why, locked := lockReason(w.Git.GitDir); locked {
		return thread.Snapshot{}, thread.Hint(fmt.Errorf("%s: %w%s", w.Git.Root, ErrLocked, why),
			"run git worktree unlock "+w.Git.Root)
	}
	return k.clear(ctx, w, repository.Operation{Thread: id, Branch: r.droppable(), Base: r.Base})
}

// clear saves and removes a worktree. o says what is known about it; a killed clear is repeated in the same way.
func (k *Keeper) clear(ctx context.Context, w *repository.Worktree, o repository.Operation) (thread.Snapshot, error) {
	unlock, err := w.Lock(ctx)
	if err != nil {
		return thread.Snapshot{}, err
	}
	defer unlock()
	snap, err := k.saver.Keep(ctx, w, o.Thread, "before removing the worktree")
	if err != nil {
		return thread.Snapshot{}, fmt.Errorf("save the current files: %w", err)
	}
	failpoint.Hit("snapshot.remove.saved")
	if err := noSubmodules(ctx, w); err != nil {
		return snap, err
	}
	ignored, err := w.Ours(ctx, git.Call{Args: []string{
		"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory",
	}})
	if err != nil {
		return snap, err
	}
	o.Kind, o.Worktree = repository.KindRemove, w.Name()
	o.Whole = len(ignored) == 0 && len(snap.Skipped) == 0 && !holdsForeign(w)
	o.Trash = repository.TrashName(filepath.Base(w.Git.Root), time.Now())
	trash, err := private.Make(w.Repo.Trees, trashFolder)
	if err != nil {
		return snap, err
	}
	defer trash.Close()
	j, err := w.Repo.Journals.Begin(o)
	if err != nil {
		return snap, err
	}
	failpoint.Hit("snapshot.remove.begun")
	err = os.Rename(w.Git.Root, trash.Path(o.Trash))
	if errors.Is(err, unix.EXDEV) {
		err = thread.Hint(fmt.Errorf("%w: it is not on the same file system as %s", err, w.Repo.Trees),
			"move it back there with git worktree move")
	}
	if err != nil {
		return snap, errors.Join(err, j.End())
	}
	failpoint.Hit("snapshot.remove.moved")
	if err := k.sweep(ctx, w.Repo, o); err != nil {
		j.Leave()
		return snap, err
	}
	return snap, j.End()
}

// noSubmodules refuses a worktree with checked-out submodules: the last snapshot, which is in the private index, only
// has the ids of their commits.
func noSubmodules(ctx context.Context, w *repository.Worktree) error {
	out, err := w.Ours(ctx, git.Call{Args: []string{"ls-files", "-z", "--stage"}})
	if err != nil {
		return err
	}
	for _, entry := range git.Fields(out) {
		head, path, _ := strings.Cut(entry, "\t")
		if !strings.HasPrefix(head, repository.ModeRepo+" ") {
			continue
		}
		if _, err := os.Lstat(filepath.Join(w.Git.Root, path, ".git")); err == nil {
			return holdsSubmodule(w.Git.Root, path)
		}
	}
	return noModules(w.Git.Root, w.Git.GitDir)
}

// noModules refuses a worktree's part of a repository if it contains the repositories of submodules.
func noModules(root, gitDir string) error {
	entries, err := os.ReadDir(filepath.Join(gitDir, "modules"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return holdsSubmodule(root, entries[0].Name())
	}
	return nil
}

func holdsSubmodule(root, name string) error {
	return thread.Hint(fmt.Errorf("%s: %w: %s", root, ErrSubmodules, git.Printable(name)),
		"push its commits, then run git worktree remove --force "+root)
}

// sweep removes the remains of a worktree whose files are in the trash. It can be repeated.
func (k *Keeper) sweep(ctx context.Context, repo *repository.Repository, o repository.Operation) error {
	unlock, err := repo.LockAll(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := unregister(repo, o.Worktree); err != nil {
		return err
	}
	failpoint.Hit("snapshot.remove.struck")
	if err := k.dropBranch(ctx, mainOf(repo), o.Branch, o.Base); err != nil {
		return err
	}
	if o.Whole && o.Trash != "" {
		if err := disk.RemoveIn(filepath.Join(repo.Trees, trashFolder), o.Trash); err != nil {
			return err
		}
	}
	failpoint.Hit("snapshot.remove.swept")
	return disk.RemoveIn(repo.CommonState(), disk.Short(o.Worktree))
}

// dropBranch deletes a branch of ours that never left its base: only the name is lost. The caller holds lockAll.
func (k *Keeper) dropBranch(ctx context.Context, at git.Worktree, branch, base string) error {
	if !repository.OurBranch(branch) || !git.IsObjectID(base) {
		return nil
	}
	ref := "refs/heads/" + branch
	w := k.Finder.at(at)
	out, err := w.Theirs(ctx, git.Call{Args: []string{"for-each-ref", "--format=%(objectname)", "--", ref}})
	if err != nil || strings.TrimSpace(string(out)) != base {
		return err
	}
	list, err := w.Live(ctx, git.Call{Args: []string{"worktree", "list", "--porcelain"}})
	if err != nil || strings.Contains(string(list)+"\n", "branch "+ref+"\n") {
		return err
	}
	_, err = w.Theirs(ctx, git.Call{
		Args:  []string{"update-ref", "--no-deref", "--stdin", "-z"},
		Stdin: strings.NewReader("delete " + ref + "\x00" + base + "\x00"), Durable: true,
	})
	return err
}

// DropBranch deletes the branch of a worktree of ours that was removed, wherever it points to, unless another worktree has
// it checked out. Its commits stay as long as a snapshot follows on them.
func (k *Keeper) DropBranch(ctx context.Context, made thread.Worktree) error {
	if !repository.OurBranch(made.Branch) {
		return fmt.Errorf("drop branch %q: %w", made.Branch, ErrNotOurs)
	}
	return k.Finder.Each(ctx, func(repo *repository.Repository) error {
		tip, err := repo.Resolve(ctx, "refs/heads/"+made.Branch)
		if err != nil || tip == "" {
			return err
		}
		unlock, err := repo.LockAll(ctx)
		if err != nil {
			return err
		}
		defer unlock()
		return k.dropBranch(ctx, mainOf(repo), made.Branch, tip)
	})
}

// mainOf returns a repository's main worktree, or the repository alone if it has none.
func mainOf(repo *repository.Repository) git.Worktree {
	main, err := git.Find(filepath.Dir(repo.Git.Common))
	if err != nil {
		return git.Worktree{Root: repo.Git.Common, GitDir: repo.Git.Common, Common: repo.Git.Common}
	}
	return main
}

// unregisterMissing removes a worktree of ours whose folder is gone from the repository.
func (k *Keeper) unregisterMissing(ctx context.Context, path string) error {
	found := false
	err := k.Finder.Each(ctx, func(repo *repository.Repository) error {
		all, err := registeredIn(repo)
		for _, r := range all {
			if filepath.Clean(r.path) != filepath.Clean(path) || found {
				continue
			}
			m, err := recordOf(repo, filepath.Base(r.gitDir))
			if err != nil {
				return err
			}
			if why, locked := lockReason(r.gitDir); locked {
				return fmt.Errorf("%s: %w%s", path, ErrLocked, why)
			}
			if err := noModules(path, r.gitDir); err != nil {
				return err
			}
			found = true
			if err := k.sweep(ctx, repo, repository.Operation{Worktree: m.Name, Branch: m.droppable(), Base: m.Base}); err != nil {
				return err
			}
		}
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("%s: %w", path, thread.ErrNotFound)
	}
	return err
}

// holdsForeign reports whether the worktree has a foreign folder.
func holdsForeign(w *repository.Worktree) bool {
	entries, err := os.ReadDir(w.Git.Root)
	for _, e := range entries {
		if git.IsForeign(e.Name()) {
			return true
		}
	}
	return err != nil
}
