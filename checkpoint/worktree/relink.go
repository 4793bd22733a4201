package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
	"orchestrator/thread/ground/atomicfile"
)

// relink links the worktrees that Add made to their repository again after either was moved: each contains the other's
// absolute path. Only those in our records are touched, so that a copy of a project, whose state is different, leaves
// the original's alone; git's own `worktree repair` handles everything that the repository lists. It returns what it
// did.
func (f *Finder) relink(ctx context.Context, repo *repository.Repository, key string) (said []string, err error) {
	records, _, err := f.records(key)
	if err != nil || len(records) == 0 {
		return nil, err
	}
	unlock, err := repo.LockAll(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, r := range records {
		did, err := f.relinkOne(repo, r)
		if err != nil {
			did = fmt.Sprintf("cannot relink worktree %s: %v", r.Root, err)
		}
		if did != "" {
			said = append(said, did)
		}
	}
	return said, nil
}

func (f *Finder) relinkOne(repo *repository.Repository, r record) (string, error) {
	if _, err := recordOf(repo, r.Name); err != nil {
		return "", nil // no longer ours; a hollow marker is for rebuildAt
	}
	part := repo.Part(r.Name)
	root := currentPath(repo, part, r)
	if root == "" {
		return "", nil // the folder is gone
	}
	dot, back := filepath.Join(root, ".git"), filepath.Join(part, "gitdir")
	there, err := disk.ReadSmall(dot)
	if err != nil {
		return "", nil // not a worktree, or one for rebuildAt
	}
	here, err := disk.ReadSmall(back)
	if err != nil {
		return "", nil
	}
	to, ok := strings.CutPrefix(strings.TrimSpace(string(there)), "gitdir: ")
	if !ok || nothing(here) {
		return "", nil
	}
	known := strings.TrimSpace(string(here))
	if sameFile(to, part) && sameFile(known, dot) && r.Root == root {
		return "", nil
	}
	if !sameFile(to, part) {
		if claimed(to, dot) {
			return "", thread.Hint(fmt.Errorf("it belongs to the repository of %s now: %w", to, ErrNotOurs),
				"fork the thread again; the files of its last turn are kept")
		}
		if err := atomicfile.Write(dot, []byte("gitdir: "+part+"\n"), true); err != nil {
			return "", err
		}
	}
	if known != dot {
		if err := atomicfile.Write(back, []byte(dot+"\n"), true); err != nil {
			return "", err
		}
	}
	r.Root = root
	home := filepath.Join(repo.CommonState(), disk.Short(r.Name))
	return "relinked worktree " + root + " after a move",
		keepRecord(home, r)
}

// currentPath is the current path of a worktree of ours: its last one, the one in the repository, or one of the same
// name in the folder of our worktrees. It is "" if it is in none of them.
func currentPath(repo *repository.Repository, part string, r record) string {
	places := []string{r.Root}
	if b, err := disk.ReadSmall(filepath.Join(part, "gitdir")); err == nil && !nothing(b) {
		places = append(places, filepath.Dir(strings.TrimSpace(string(b))))
	}
	for _, root := range append(places, filepath.Join(repo.Trees, filepath.Base(r.Root))) {
		info, err := os.Lstat(root)
		if err != nil || !info.IsDir() || !filepath.IsAbs(root) {
			continue
		}
		to, err := disk.ReadSmall(filepath.Join(root, ".git"))
		if err == nil && filepath.Base(strings.TrimSpace(string(to))) == r.Name {
			return resolved(root)
		}
	}
	return ""
}

// claimed reports whether a worktree's part of some repository exists and says that the worktree is its own.
func claimed(part, dot string) bool {
	b, err := disk.ReadSmall(filepath.Join(part, "gitdir"))
	return err == nil && sameFile(strings.TrimSpace(string(b)), dot)
}
