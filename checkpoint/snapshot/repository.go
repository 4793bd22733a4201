package snapshot

import (
	"context"
	"path/filepath"
)

// repository is what all worktrees of a repository share: its objects, its refs, its list of worktrees, and our journals
// of what is done to it. It is reached through one of its worktrees.
type repository struct {
	*access
	journals journals
	state    string // the Store's folder
	trees    string // the folder with our worktrees
}

// lockAll makes the caller the only one of us who changes the repository's list of worktrees: git stumbles over one
// that another git is about to write. It is taken after a worktree's lock, never before one.
func (repo *repository) lockAll(ctx context.Context) (unlock func(), err error) {
	return repo.locks.lock(ctx, filepath.Join(repo.commonState(), "lock"))
}
