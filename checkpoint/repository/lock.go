package repository

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"

	"orchestrator/checkpoint/flock"
)

// Locks are lock files that exclude other processes. Within this process callers are served in order: a plain file lock
// goes to whoever happens to check when it is free, and a thread that shares a busy folder would wait as long as the
// others are busy.
type Locks struct {
	mu    sync.Mutex
	lines map[string]*semaphore.Weighted // by path
}

// NewLocks creates the locks of one process.
func NewLocks() *Locks { return &Locks{lines: map[string]*semaphore.Weighted{}} }

// lock waits for the lock on a file.
func (l *Locks) lock(ctx context.Context, path string) (unlock func(), err error) {
	l.mu.Lock()
	line := l.lines[path]
	if line == nil {
		line = semaphore.NewWeighted(1)
		l.lines[path] = line
	}
	l.mu.Unlock()
	if err := line.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("lock worktree: %w", err)
	}
	f, err := flock.Lock(ctx, path)
	if err != nil {
		line.Release(1)
		return nil, fmt.Errorf("lock worktree: %w", err)
	}
	return func() { f.Close(); line.Release(1) }, nil
}
