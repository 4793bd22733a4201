package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// ErrNotOurs says that a worktree was not made by Add.
var ErrNotOurs = errors.New("the worktree was not made by orchestrator")

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
	w, err := s.open(ctx, wt.Path)
	if err != nil {
		return thread.Snapshot{}, err
	}
	if real, err := realParent(wt.Path); err != nil || real != w.Root {
		return thread.Snapshot{}, fmt.Errorf("%s is no worktree's root: %w", wt.Path, ErrNotOurs)
	}
	m, err := w.mark()
	if err != nil {
		return thread.Snapshot{}, err
	}
	if why, locked := lockReason(w.GitDir); locked {
		return thread.Snapshot{}, thread.Hint(fmt.Errorf("%s: %w%s", w.Root, ErrLocked, why), "git worktree unlock "+w.Root)
	}
	return s.clear(ctx, w, op{Thread: id, Root: w.Root, Branch: m.Branch, Base: m.Base, GitDir: w.GitDir})
}

// mark reads the marker that Add left.
func (w *worktree) mark() (mark, error) { return markAt(w.GitDir, w.Linked()) }

func markAt(gitDir string, linked bool) (mark, error) {
	var m mark
	b, err := os.ReadFile(filepath.Join(gitDir, marker))
	if !linked || errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%s: %w", gitDir, ErrNotOurs)
	}
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	return m, err
}

func lockReason(gitDir string) (why string, locked bool) {
	b, err := os.ReadFile(filepath.Join(gitDir, "locked"))
	if err != nil {
		return "", false
	}
	if why = strings.TrimSpace(string(b)); why != "" {
		why = ": " + git.Printable(why)
	}
	return why, true
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
	o.Kind, o.Whole = opRemove, len(ignored) == 0 && len(snap.Skipped) == 0
	o.Trash = filepath.Join(filepath.Dir(w.Root), ".trash", time.Now().UTC().Format("20060102T150405")+"-"+thread.NewID[string]()[:6]+"-"+filepath.Base(w.Root))
	if err := os.MkdirAll(filepath.Dir(o.Trash), 0o700); err != nil {
		return snap, err
	}
	j, err := w.begin(o)
	if err != nil {
		return snap, err
	}
	failpoint.Hit("snapshot.remove.begun")
	if err := os.Rename(w.Root, o.Trash); err != nil {
		return snap, errors.Join(err, j.end())
	}
	failpoint.Hit("snapshot.remove.moved")
	if err := s.sweep(ctx, w, o); err != nil {
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
	for _, entry := range split(out) {
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
func (s *Store) sweep(ctx context.Context, w *worktree, o op) error {
	main, err := git.Find(filepath.Dir(w.Common))
	if err != nil {
		main = git.Worktree{Root: w.Common, GitDir: w.Common, Common: w.Common} // no main worktree: the repository alone
	}
	unlock, err := w.lockAll(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := strike(o.GitDir); err != nil {
		return err
	}
	failpoint.Hit("snapshot.remove.struck")
	if err := s.dropBranch(ctx, main, o); err != nil {
		return err
	}
	if o.Whole {
		if err := removeAll(o.Trash); err != nil {
			return err
		}
	}
	failpoint.Hit("snapshot.remove.swept")
	return os.RemoveAll(filepath.Join(s.cfg.State, short(w.Common), short(o.GitDir)))
}

// strike takes a worktree out of the repository, as git does when it removes one.
func strike(gitDir string) error {
	if filepath.Base(filepath.Dir(gitDir)) != "worktrees" {
		return fmt.Errorf("%s is no worktree's: %w", gitDir, ErrNotOurs)
	}
	if err := os.RemoveAll(gitDir); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(gitDir)) // git removes the folder with the last one; it is not empty otherwise
	return nil
}

// dropBranch deletes a branch of ours that never left its base: nothing but the name is lost. The caller holds
// lockAll.
func (s *Store) dropBranch(ctx context.Context, at git.Worktree, o op) error {
	if !strings.HasPrefix(o.Branch, branchPrefix) || !git.IsObjectID(o.Base) {
		return nil
	}
	ref := "refs/heads/" + o.Branch
	run := func(c git.Call) ([]byte, error) {
		c.Dir, c.Env = at.Root, []string{"GIT_DIR=" + at.GitDir}
		return s.git.Run(ctx, c)
	}
	out, err := run(git.Call{Args: []string{"for-each-ref", "--format=%(objectname)", "--", ref}})
	if err != nil || strings.TrimSpace(string(out)) != o.Base {
		return err
	}
	list, err := run(git.Call{Args: []string{"worktree", "list", "--porcelain"}})
	if err != nil || strings.Contains(string(list)+"\n", "branch "+ref+"\n") {
		return err
	}
	_, err = run(git.Call{
		Args:  []string{"update-ref", "--no-deref", "--stdin", "-z"},
		Stdin: strings.NewReader("delete " + ref + "\x00" + o.Base + "\x00"), Durable: true,
	})
	return err
}

// removeAll removes a folder of ours, also where an agent took away the right to.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// strikeOff takes a worktree of ours whose folder is gone out of the repository.
func (s *Store) strikeOff(ctx context.Context, path string) error {
	found := false
	err := s.each(ctx, func(w *worktree) error {
		all, err := w.registered()
		for _, r := range all {
			if filepath.Clean(r.path) != filepath.Clean(path) || found {
				continue
			}
			m, err := markAt(r.gitDir, true)
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
			if err := s.sweep(ctx, w, op{Branch: m.Branch, Base: m.Base, GitDir: r.gitDir}); err != nil {
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

// registered is a worktree as the repository knows it.
type registered struct {
	gitDir string
	path   string // where it was last
}

// registered returns the repository's linked worktrees.
func (w *worktree) registered() ([]registered, error) {
	entries, err := os.ReadDir(filepath.Join(w.Common, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []registered
	for _, e := range entries {
		gitDir := filepath.Join(w.Common, "worktrees", e.Name())
		b, err := os.ReadFile(filepath.Join(gitDir, "gitdir"))
		if err != nil {
			continue
		}
		all = append(all, registered{gitDir: gitDir, path: filepath.Dir(strings.TrimSpace(string(b)))})
	}
	return all, nil
}

// EmptyTrash deletes what Remove moved aside before a time, and returns how many bytes were freed.
func (s *Store) EmptyTrash(before time.Time) (int64, error) {
	trash := filepath.Join(s.cfg.Worktrees, ".trash")
	entries, err := os.ReadDir(trash)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("empty trash: %w", err)
	}
	var freed int64
	for _, e := range entries {
		at, _, _ := strings.Cut(e.Name(), "-")
		moved, err := time.Parse("20060102T150405", at)
		if err != nil || !moved.Before(before) {
			continue
		}
		dir := filepath.Join(trash, e.Name())
		_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // counting is a courtesy
			}
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				freed += info.Size()
			}
			return nil
		})
		if err := removeAll(dir); err != nil {
			return freed, fmt.Errorf("empty trash: %w", err)
		}
	}
	return freed, nil
}
