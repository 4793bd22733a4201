package repository

import (
	"context"
	"path/filepath"
)

// Repository is what all worktrees of a repository share: its objects, its refs, its list of worktrees, and our
// journals of operations on it. It is reached through one of its worktrees.
type Repository struct {
	*Access
	Journals Journals
	State    string // the folder of all our state
	Trees    string // the folder with our worktrees
}

// LockAll gives the caller exclusive use, among us, of the repository's list of worktrees: git fails at one that
// another git is about to write. It is taken after a worktree's lock, never before one.
func (repo *Repository) LockAll(ctx context.Context) (unlock func(), err error) {
	return repo.locks.lock(ctx, filepath.Join(repo.CommonState(), "lock"))
}

// Part is the path of the repository's part of a worktree.
func (repo *Repository) Part(name string) string {
	return filepath.Join(repo.Git.Common, "worktrees", name)
}
