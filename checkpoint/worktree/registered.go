package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
)

// registered is a worktree as the repository knows it.
type registered struct {
	gitDir string
	path   string // its last known path
}

// registeredIn returns the repository's linked worktrees.
func registeredIn(repo *repository.Repository) ([]registered, error) {
	entries, err := os.ReadDir(filepath.Join(repo.Git.Common, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []registered
	for _, e := range entries {
		gitDir := filepath.Join(repo.Git.Common, "worktrees", e.Name())
		b, err := disk.ReadSmall(filepath.Join(gitDir, "gitdir"))
		if err != nil {
			continue
		}
		all = append(all, registered{gitDir: gitDir, path: filepath.Dir(strings.TrimSpace(string(b)))})
	}
	return all, nil
}

// unregister removes a worktree from the repository, as git does when it removes one.
func unregister(repo *repository.Repository, name string) error {
	list := filepath.Join(repo.Git.Common, "worktrees")
	if err := disk.RemoveIn(list, name); err != nil {
		return err
	}
	_ = os.Remove(list) // git removes the folder with the last one; otherwise it is not empty
	return nil
}

func lockReason(gitDir string) (why string, locked bool) {
	b, err := disk.ReadSmall(filepath.Join(gitDir, "locked"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	if err != nil {
		return ": " + err.Error(), true // it exists, whatever it is
	}
	if why = strings.TrimSpace(string(b)); why != "" {
		why = ": " + git.Printable(why)
	}
	return why, true
}
