package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
)

// submodules returns the repositories among paths that are submodules in the person's index.
func (w files) submodules(ctx context.Context, paths []string) (map[string]bool, error) {
	args := []string{"ls-files", "-z", "--stage", "--"}
	for _, path := range paths {
		if name, repository := strings.CutSuffix(path, "/"); repository && !w.mine(path) {
			args = append(args, name)
		}
	}
	switch {
	case len(args) == 4:
		return nil, nil
	case len(args) > 1000: // too many for a command line
		args = args[:4]
	}
	out, err := w.work.Theirs(ctx, git.Call{Args: args})
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, entry := range git.Fields(out) {
		if head, path, _ := strings.Cut(entry, "\t"); strings.HasPrefix(head, repository.ModeRepo+" ") {
			found[path] = true
		}
	}
	return found, nil
}

// filled returns the submodule entries in an index of ours whose folders contain files without being a repository, and
// those files, except ignored ones: they belong to the worktree, and nobody else stores them.
func (w files) filled(ctx context.Context, env []string) (places, files []string, err error) {
	if _, err := os.Lstat(filepath.Join(w.work.Git.Root, ".gitmodules")); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	out, err := w.work.Ours(ctx, git.Call{Args: []string{"ls-files", "-z", "--stage"}, Env: env})
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range git.Fields(out) {
		head, path, _ := strings.Cut(entry, "\t")
		if !strings.HasPrefix(head, repository.ModeRepo+" ") {
			continue
		}
		if !w.loose(path) {
			continue
		}
		// With an empty index: git does not look into the folder of a submodule that it knows.
		out, err := w.work.Ours(ctx, git.Call{
			Args: []string{"ls-files", "-z", "--others", "--exclude-standard", "--", path + "/"},
			Env:  append(append([]string{}, env...), "GIT_INDEX_FILE="+filepath.Join(w.work.Home, "no-index")),
		})
		if err != nil {
			return nil, nil, err
		}
		if found := git.Fields(out); len(found) > 0 {
			places, files = append(places, path), append(files, found...)
		}
	}
	return places, files, nil
}

// loose reports whether a path is a folder, reached through no link, that is not empty and not a repository.
func (w files) loose(path string) bool {
	dir := w.work.Git.Root
	for part := range strings.SplitSeq(path, "/") {
		dir = filepath.Join(dir, part)
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return false
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) > 0
}

// mine reports whether a path belongs to our own folders, if they are inside the worktree.
func (w files) mine(path string) bool {
	abs := filepath.Join(w.work.Git.Root, path)
	for _, own := range []string{w.work.Repo.State, w.work.Repo.Trees} {
		if git.Within(own, w.work.Git.Root) && own != w.work.Git.Root && git.Within(abs, own) {
			return true
		}
	}
	return false
}
