package snapshot

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
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/private"
)

// ErrLocked says that somebody locked a worktree.
var ErrLocked = errors.New("the worktree is locked")

// ErrSubmodules says that a worktree holds repositories which a snapshot names and does not look into.
var ErrSubmodules = errors.New("a submodule is checked out in the worktree")

// Remove saves what a worktree of ours holds, files of any size included, and removes it. Its branch goes too
// when it never left its base; commits stay. Ignored files and others that a snapshot cannot hold are moved into
// the store's trash, which EmptyTrash empties. A worktree whose folder is already gone is only struck off. One with
// submodules that are checked out is left alone, as git leaves it: their commits and files may lie nowhere else.
func (s *Store) Remove(ctx context.Context, id thread.ID, wt thread.Worktree) (thread.Snapshot, error) {
	snap, err := s.remove(ctx, id, wt)
	if err != nil {
		return snap, fmt.Errorf("remove worktree: %w", err)
	}
	return snap, nil
}

func (s *Store) remove(ctx context.Context, id thread.ID, wt thread.Worktree) (thread.Snapshot, error) {
	if err := checkID(id); err != nil {
		return thread.Snapshot{}, err
	}
	if _, err := os.Lstat(wt.Path); errors.Is(err, fs.ErrNotExist) {
		return thread.Snapshot{}, s.strikeOff(ctx, wt.Path)
	}
	w, err := s.finder.open(ctx, wt.Path)
	if err != nil {
		return thread.Snapshot{}, err
	}
	if real, err := realParent(wt.Path); err != nil || real != w.Root {
		return thread.Snapshot{}, fmt.Errorf("%s is no worktree's root: %w", wt.Path, ErrNotOurs)
	}
	r, err := w.repo.recordOf(w.name())
	if err != nil {
		return thread.Snapshot{}, err
	}
	if why, locked := lockReason(w.GitDir); locked {
		return thread.Snapshot{}, thread.Hint(fmt.Errorf("%s: %w%s", w.Root, ErrLocked, why), "git worktree unlock "+w.Root)
	}
	return s.clear(ctx, w, op{Thread: id, Branch: r.Branch, Base: r.Base})
}

// clear saves and removes a worktree. o says what is known of it; a killed clear is done again in the same way.
func (s *Store) clear(ctx context.Context, w *worktree, o op) (thread.Snapshot, error) {
	unlock, err := w.lock(ctx)
	if err != nil {
		return thread.Snapshot{}, err
	}
	defer unlock()
	snap, err := s.take(ctx, w, order{thread: o.Thread, note: "before removing the worktree"})
	if err != nil {
		return thread.Snapshot{}, fmt.Errorf("save what is there: %w", err)
	}
	failpoint.Hit("snapshot.remove.saved")
	if err := w.noSubmodules(ctx); err != nil {
		return snap, err
	}
	ignored, err := w.ours(ctx, git.Call{Args: []string{
		"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory",
	}})
	if err != nil {
		return snap, err
	}
	o.Kind, o.Worktree, o.Whole = opRemove, w.name(), len(ignored) == 0 && len(snap.Skipped) == 0 && !w.holdsForeign()
	o.Trash = nameInTrash(filepath.Base(w.Root), time.Now())
	trash, err := private.Make(w.repo.trees, trashFolder)
	if err != nil {
		return snap, err
	}
	defer trash.Close()
	j, err := w.repo.journals.begin(o)
	if err != nil {
		return snap, err
	}
	failpoint.Hit("snapshot.remove.begun")
	err = os.Rename(w.Root, trash.Path(o.Trash))
	if errors.Is(err, unix.EXDEV) {
		err = thread.Hint(fmt.Errorf("%w: it lies on another file system than %s", err, w.repo.trees), "git worktree move it back there")
	}
	if err != nil {
		return snap, errors.Join(err, j.end())
	}
	failpoint.Hit("snapshot.remove.moved")
	if err := s.sweep(ctx, w.repo, o); err != nil {
		j.leave()
		return snap, err
	}
	return snap, j.end()
}

// noSubmodules refuses a worktree in which submodules are checked out: the last snapshot, which the private index
// holds, has no more than their commits' ids.
func (w *worktree) noSubmodules(ctx context.Context) error {
	out, err := w.ours(ctx, git.Call{Args: []string{"ls-files", "-z", "--stage"}})
	if err != nil {
		return err
	}
	for _, entry := range git.Fields(out) {
		head, path, _ := strings.Cut(entry, "\t")
		if !strings.HasPrefix(head, modeRepo+" ") {
			continue
		}
		if _, err := os.Lstat(filepath.Join(w.Root, path, ".git")); err == nil {
			return holdsSubmodule(w.Root, path)
		}
	}
	return noModules(w.Root, w.GitDir)
}

// noModules refuses a worktree's part of a repository where it holds the repositories of submodules.
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
		"push what it holds, then git worktree remove --force "+root)
}

// sweep takes away what is left of a worktree whose files are in the trash. It can be done again.
func (s *Store) sweep(ctx context.Context, repo *repository, o op) error {
	main, err := git.Find(filepath.Dir(repo.Common))
	if err != nil {
		main = git.Worktree{Root: repo.Common, GitDir: repo.Common, Common: repo.Common} // no main worktree: the repository alone
	}
	unlock, err := repo.lockAll(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := repo.strike(o.Worktree); err != nil {
		return err
	}
	failpoint.Hit("snapshot.remove.struck")
	if err := s.dropBranch(ctx, main, o.Branch, o.Base); err != nil {
		return err
	}
	if o.Whole && o.Trash != "" {
		if err := disk.RemoveIn(filepath.Join(repo.trees, trashFolder), o.Trash); err != nil {
			return err
		}
	}
	failpoint.Hit("snapshot.remove.swept")
	return disk.RemoveIn(repo.commonState(), disk.Short(o.Worktree))
}

// dropBranch deletes a branch of ours that never left its base: nothing but the name is lost. The caller holds
// lockAll.
func (s *Store) dropBranch(ctx context.Context, at git.Worktree, branch, base string) error {
	if !ourBranch(branch) || !git.IsObjectID(base) {
		return nil
	}
	ref := "refs/heads/" + branch
	w := s.finder.at(at)
	out, err := w.theirs(ctx, git.Call{Args: []string{"for-each-ref", "--format=%(objectname)", "--", ref}})
	if err != nil || strings.TrimSpace(string(out)) != base {
		return err
	}
	list, err := w.live(ctx, git.Call{Args: []string{"worktree", "list", "--porcelain"}})
	if err != nil || strings.Contains(string(list)+"\n", "branch "+ref+"\n") {
		return err
	}
	_, err = w.theirs(ctx, git.Call{
		Args:  []string{"update-ref", "--no-deref", "--stdin", "-z"},
		Stdin: strings.NewReader("delete " + ref + "\x00" + base + "\x00"), Durable: true,
	})
	return err
}

// strikeOff takes a worktree of ours whose folder is gone out of the repository.
func (s *Store) strikeOff(ctx context.Context, path string) error {
	found := false
	err := s.finder.each(ctx, func(repo *repository) error {
		all, err := repo.registered()
		for _, r := range all {
			if filepath.Clean(r.path) != filepath.Clean(path) || found {
				continue
			}
			m, err := repo.recordOf(filepath.Base(r.gitDir))
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
			if err := s.sweep(ctx, repo, op{Worktree: m.Name, Branch: m.Branch, Base: m.Base}); err != nil {
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

// holdsForeign reports whether the worktree has such a folder.
func (w *worktree) holdsForeign() bool {
	entries, err := os.ReadDir(w.Root)
	for _, e := range entries {
		if git.IsForeign(e.Name()) {
			return true
		}
	}
	return err != nil
}
