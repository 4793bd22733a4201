package worktree

import (
	"context"
	"sync"

	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
)

// Saver saves the files of worktrees.
type Saver interface {
	// Keep takes a snapshot of everything in a worktree, files of any size included, for a thread; note is the first
	// line of its commit. The caller holds the worktree's lock.
	Keep(ctx context.Context, w *repository.Worktree, id thread.ID, note string) (thread.Snapshot, error)
	// Resume completes an interrupted restore, and returns the snapshot of the files before it.
	Resume(ctx context.Context, w *repository.Worktree, o repository.Operation) (thread.Snapshot, error)
}

// Keeper creates and removes the worktrees of forks, and repairs interrupted operations. It is safe for concurrent use,
// also by several processes.
type Keeper struct {
	Finder *Finder
	saver  Saver

	// settling are the syncs of new worktrees' files, which Add does not wait for; they end by themselves.
	settling sync.WaitGroup
}

// NewKeeper creates a Keeper of the worktrees that a Finder finds.
func NewKeeper(found *Finder, saver Saver) *Keeper { return &Keeper{Finder: found, saver: saver} }

// Close waits until the files of the worktrees that Add made are on disk.
func (k *Keeper) Close() error {
	k.settling.Wait()
	return nil
}

var (
	_ thread.WorktreeFinder = (*Finder)(nil)
	_ thread.RepairReporter = (*Finder)(nil)
)
