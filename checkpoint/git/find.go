package git

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/thread"
)

// The reasons why a folder is not a usable worktree.
var (
	ErrBare    = errors.New("the repository is bare")
	ErrForeign = errors.New("the worktree's .git file does not match its repository")
	ErrOwner   = errors.New("the repository belongs to another user")
)

// Worktree has the paths of a worktree and its repository. All paths are absolute.
type Worktree struct {
	Root   string // the folder with .git
	GitDir string // this worktree's own part: HEAD, index
	Common string // the repository: objects, refs, config
}

// Linked reports whether it was made by `git worktree add`.
func (w Worktree) Linked() bool { return w.GitDir != w.Common }

// Env makes git work in this worktree without searching for it.
func (w Worktree) Env() []string {
	return []string{"GIT_DIR=" + w.GitDir, "GIT_WORK_TREE=" + w.Root}
}

// Find returns the worktree that dir is in. It only reads files, runs nothing and trusts nothing: Check says whether
// the repository may be used.
func Find(dir string) (Worktree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Worktree{}, fmt.Errorf("find repository: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return Worktree{}, fmt.Errorf("find repository: %w", err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		w, err := worktreeAt(at)
		if err == nil {
			err = w.owns(dir)
		}
		if err == nil {
			return w, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return Worktree{}, err
		}
		if isGitDir(at) {
			return Worktree{}, thread.Hint(fmt.Errorf("find repository: %s is a git directory: %w", at, ErrBare), elsewhere(at))
		}
		if at == filepath.Dir(at) {
			return Worktree{}, fmt.Errorf("find repository: %s: %w", dir, thread.ErrNoRepository)
		}
	}
}

// mostListed is how many worktrees a hint names.
const mostListed = 5

// elsewhere returns where to work instead of in a git directory, or in the folder of a repository without files.
func elsewhere(gitDir string) string {
	if filepath.Base(gitDir) == ".git" {
		if w, err := worktreeAt(filepath.Dir(gitDir)); err == nil && w.GitDir == gitDir {
			return "go to " + Printable(w.Root)
		}
	}
	var roots []string
	entries, err := os.ReadDir(filepath.Join(gitDir, "worktrees"))
	if err == nil {
		for _, e := range entries {
			root := listed(filepath.Join(gitDir, "worktrees"), e.Name())
			if _, err := os.Lstat(filepath.Join(root, ".git")); root != "" && err == nil {
				roots = append(roots, Printable(root))
			}
		}
	}
	switch n := len(roots); {
	case n == 0:
		return "make a worktree with `git worktree add`, and go there"
	case n > mostListed:
		return fmt.Sprintf("go to one of its worktrees: %s and %d more", strings.Join(roots[:mostListed], ", "), n-mostListed)
	case n > 1:
		return "go to one of its worktrees: " + strings.Join(roots, ", ")
	default:
		return "go to its worktree " + roots[0]
	}
}

// listed returns the root of a worktree as its repository lists it, "" where it cannot be read.
func listed(lists, name string) string {
	b, err := readSmall(filepath.Join(lists, name, "gitdir"))
	if err != nil {
		return "" // it is being removed
	}
	root := filepath.Dir(strings.TrimSpace(string(b)))
	if !filepath.IsAbs(root) {
		root = filepath.Join(lists, name, root)
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	return root
}

// owns returns an error if dir is in another worktree of the repository, below this one: that one has lost its .git
// file, and operations on dir must not affect this one's files.
func (w Worktree) owns(dir string) error {
	if dir == w.Root {
		return nil
	}
	lists := filepath.Join(w.Common, "worktrees")
	entries, err := os.ReadDir(lists)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it has no others
	}
	if err != nil {
		return fmt.Errorf("find repository: %w", err)
	}
	for _, e := range entries {
		other := listed(lists, e.Name())
		if other == "" {
			continue
		}
		if Within(dir, other) && other != w.Root && Within(other, w.Root) {
			return thread.Hint(fmt.Errorf("find repository: the worktree %s has no .git file: %w", Printable(other), ErrForeign),
				"recreate it with git worktree repair, or run git worktree prune if the folder is no longer a worktree")
		}
	}
	return nil
}

// Within reports whether path is dir or below it. Both are clean and absolute.
func Within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
}

// worktreeAt reads root/.git; fs.ErrNotExist if there is no valid one.
func worktreeAt(root string) (Worktree, error) {
	dot := filepath.Join(root, ".git")
	info, err := os.Lstat(dot)
	if err != nil {
		return Worktree{}, fmt.Errorf("find repository: %w", err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if info, err = os.Stat(dot); err != nil {
			return Worktree{}, fmt.Errorf("find repository: %w", err)
		}
	}
	if info.IsDir() {
		if !isGitDir(dot) {
			return Worktree{}, fmt.Errorf("find repository: %s: %w", dot, fs.ErrNotExist)
		}
		return Worktree{Root: root, GitDir: dot, Common: dot}, nil
	}
	return linkedAt(root, dot)
}

// linkedAt follows a .git file: of a linked worktree, a submodule, or a repository that is stored elsewhere.
func linkedAt(root, dot string) (Worktree, error) {
	to, err := pointer(dot, "gitdir:", root)
	if err != nil {
		return Worktree{}, err
	}
	common, err := pointer(filepath.Join(to, "commondir"), "", to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if !isGitDir(to) {
			return Worktree{}, fmt.Errorf("find repository: %s points to %s, which is not a repository: %w",
				dot, Printable(to), ErrForeign)
		}
		return Worktree{Root: root, GitDir: to, Common: to}, nil
	case err != nil:
		return Worktree{}, err
	}
	// An agent may write its worktree's .git file: it must point to a place that the repository set up.
	if filepath.Dir(filepath.Dir(to)) != common || filepath.Base(filepath.Dir(to)) != "worktrees" || !isGitDir(common) {
		return Worktree{}, fmt.Errorf("find repository: %s: %w", dot, ErrForeign)
	}
	return Worktree{Root: root, GitDir: to, Common: common}, nil
}

// pointer reads a file that contains a path, absolute or relative to base, and resolves it.
func pointer(file, prefix, base string) (string, error) {
	b, err := readSmall(file)
	if err != nil {
		return "", err
	}
	s := strings.TrimRight(string(b), "\r\n")
	if !strings.HasPrefix(s, prefix) {
		return "", fmt.Errorf("read %s: %w", file, ErrForeign)
	}
	s = strings.TrimSpace(strings.TrimPrefix(s, prefix))
	if !filepath.IsAbs(s) {
		s = filepath.Join(base, s)
	}
	to, err := filepath.EvalSymlinks(s)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read %s: it points to %s, which does not exist: %w", file, Printable(s), ErrForeign)
	}
	return to, err
}

func readSmall(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("find repository: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return nil, fmt.Errorf("read %s: %w", file, ErrForeign)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("find repository: %w", err)
	}
	return b, nil
}

// FindReceiver finds the repository that a push to a folder on this machine goes to, in git's own order. base is what a
// relative path is relative to.
func FindReceiver(base, address string) (Worktree, error) {
	path := address
	if u, err := url.Parse(address); err == nil && strings.EqualFold(u.Scheme, "file") {
		path = u.Path
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	for _, suffix := range []string{"/.git", "", ".git/.git", ".git"} {
		at := path + suffix
		info, err := os.Stat(at)
		switch {
		case err != nil:
			continue
		case !info.IsDir(): // a worktree, or a repository that is stored elsewhere
			w, err := linkedAt(filepath.Dir(at), at)
			return w, err
		case !isGitDir(at):
			continue
		}
		at, err = filepath.EvalSymlinks(at)
		return Worktree{Root: at, GitDir: at, Common: at}, err
	}
	return Worktree{}, fmt.Errorf("find the remote %s: %w", Printable(Redact(address)), thread.ErrNoRepository)
}

// isGitDir reports whether dir has what every repository has.
func isGitDir(dir string) bool {
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil
}
