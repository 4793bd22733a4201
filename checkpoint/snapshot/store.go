package snapshot

import (
	"context"
	"runtime"
	"time"

	"orchestrator/checkpoint/worktree"
	"orchestrator/thread"
	"orchestrator/thread/ground/semaphore"
)

// DefaultLimit is the largest file in a snapshot, in bytes, unless configured otherwise.
const DefaultLimit = 50 << 20

// takeShare is how long taking a snapshot may delay others: as many as there are processors are taken at once, each
// with a few git processes.
const takeShare = time.Second

// Config configures a Store.
type Config struct {
	// Limit is the largest new or changed file in a snapshot, in bytes; 0 is DefaultLimit.
	Limit int64
	// About returns what is known about a thread, false if nothing is: it is stored with the thread's snapshots, for the
	// day when nothing else knows. May be nil.
	About func(thread.ID) (About, bool)
}

// Store takes and restores snapshots of the worktrees of one project. It is safe for concurrent use, also by
// several processes.
type Store struct {
	cfg     Config
	found   *worktree.Finder
	numbers numbers
	taking  *semaphore.Semaphore // limits how many snapshots are taken at once; acquired with the worktree's lock held
}

var (
	_ thread.Differ      = (*Store)(nil)
	_ thread.RefRepairer = (*Store)(nil)
	_ worktree.Saver     = (*Store)(nil)
)

// New returns a Store of snapshots of the worktrees that a Finder finds.
func New(found *worktree.Finder, cfg Config) *Store {
	if cfg.Limit <= 0 {
		cfg.Limit = DefaultLimit
	}
	return &Store{
		cfg: cfg, found: found, numbers: numbers{next: map[string]int{}},
		taking: semaphore.New(int64(runtime.GOMAXPROCS(0)), takeShare),
	}
}

// open opens the worktree that dir is in.
func (s *Store) open(ctx context.Context, dir string) (files, error) {
	w, err := s.found.Open(ctx, dir)
	return files{w}, err
}

// about is what is known about a thread.
func (s *Store) about(id thread.ID) About {
	if s.cfg.About == nil {
		return About{}
	}
	about, _ := s.cfg.About(id)
	return about
}
