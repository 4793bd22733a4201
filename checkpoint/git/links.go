package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/thread"
)

// ErrLink means that git would write through a link, to a place that the repository's files name.
var ErrLink = errors.New("git would write through a link")

// written is what git writes of a worktree's own part and of the repository. Git opens it through links.
var written = struct{ part, common []string }{
	[]string{
		"HEAD", "HEAD.lock", "index", "index.lock", "COMMIT_EDITMSG", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "MERGE_MSG",
		"MERGE_MODE", "MERGE_RR", "AUTO_MERGE", "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD", "logs", "logs/HEAD", "refs",
	},
	[]string{
		"HEAD", "objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/orchestrator", "logs", "logs/HEAD", "packed-refs",
		"packed-refs.lock", "packed-refs.new", "config.lock", "shallow", "shallow.lock", "worktrees",
	},
}

// Unlinked returns an error if git would write through a link in the repository, or into another one that a file in it
// names. A clone cannot bring such a link, but an archive or an agent can. It opens no file.
func (w Worktree) Unlinked() error {
	for _, part := range []struct {
		dir   string
		names []string
	}{{w.GitDir, written.part}, {w.Common, written.common}} {
		for _, name := range part.names {
			path := filepath.Join(part.dir, name)
			if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 && !symbolic(path) {
				return linked(path)
			}
		}
	}
	for _, dir := range []string{"objects", "worktrees", "refs", "refs/heads", "refs/orchestrator"} {
		entries, err := os.ReadDir(filepath.Join(w.Common, dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look for links in the repository: %w", err)
		}
		for _, e := range entries {
			// A link in place of a branch is replaced, not followed.
			if path := filepath.Join(w.Common, dir, e.Name()); e.Type()&fs.ModeSymlink != 0 && isFolder(path) {
				return linked(path)
			}
		}
	}
	for _, logs := range []string{filepath.Join(w.Common, "logs"), filepath.Join(w.GitDir, "logs")} {
		err := filepath.WalkDir(logs, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return fmt.Errorf("look for links in the repository: %w", err)
			case d.Type()&fs.ModeSymlink != 0:
				return linked(path)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if !w.Linked() {
			break
		}
	}
	return w.ownCommon()
}

// symbolic reports whether a link is a symbolic ref as old versions of git wrote HEAD.
func symbolic(path string) bool {
	to, err := os.Readlink(path)
	return err == nil && filepath.Base(path) == "HEAD" && strings.HasPrefix(to, "refs/") && filepath.IsLocal(to)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// ownCommon returns an error if git takes another folder for the repository than we do, or if the worktree's .git file
// names a repository that is another folder's.
func (w Worktree) ownCommon() error {
	if !w.Linked() {
		if _, err := os.Lstat(filepath.Join(w.Common, "commondir")); err == nil {
			return foreign(w.Root, filepath.Join(w.Common, "commondir")+" names another repository")
		}
	}
	dot := filepath.Join(w.Root, ".git")
	info, err := os.Lstat(dot)
	if err != nil || info.IsDir() {
		return nil //nolint:nilerr // a bare repository, or one whose .git is gone: git reports that
	}
	if !w.Linked() {
		if main := filepath.Dir(w.Common); filepath.Base(w.Common) == ".git" && main != w.Root {
			return foreign(w.Root, "its .git leads to the repository of "+main)
		}
		return nil
	}
	b, err := readSmall(filepath.Join(w.GitDir, "gitdir"))
	if err != nil {
		return nil //nolint:nilerr // git reports a worktree that is not whole
	}
	back := strings.TrimSpace(string(b))
	if !filepath.IsAbs(back) {
		back = filepath.Join(w.GitDir, back)
	}
	if filepath.Clean(back) == dot {
		return nil
	}
	// A folder that was moved is told from one that only claims to be the worktree: nothing is left where it was.
	if to, err := pointer(back, "gitdir:", filepath.Dir(back)); err == nil && to == w.GitDir && !sameFile(back, dot) {
		return foreign(w.Root, "its .git leads to the worktree "+filepath.Dir(back))
	}
	return nil
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

func linked(path string) error {
	to, err := os.Readlink(path)
	if err != nil {
		to = "another place"
	}
	return thread.Hint(fmt.Errorf("%s leads to %s: %w", Printable(path), Printable(to), ErrLink),
		"put the file or folder itself in place of the link, if the repository is yours")
}

func foreign(root, why string) error {
	return thread.Hint(fmt.Errorf("%s: %s: %w", Printable(root), Printable(why), ErrForeign),
		"work in that folder, or make a worktree of it with git worktree add")
}
