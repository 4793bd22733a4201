package snapshot

import (
	"context"
	"runtime"
	"time"

	"orchestrator/checkpoint/worktree"
	"orchestrator/thread"
	"orchestrator/thread/semaphore"
)

// DefaultLimit is the largest file that a snapshot holds, in bytes, unless the configuration says otherwise.
const DefaultLimit = 50 << 20

// takeShare is for how long a snapshot that is taken holds up others: as many as there are processors are taken at a
// time, each with a few git processes.
const takeShare = time.Second

// Config says what a Store keeps.
type Config struct {
	// Limit is the largest new or changed file that a snapshot holds, in bytes; 0 is DefaultLimit.
	Limit int64
	// About says what is known of a thread, false when nothing is: it is kept with the thread's snapshots, for the day
	// when nothing else knows. May be nil.
	About func(thread.ID) (About, bool)
}

// Store takes and restores snapshots of the worktrees of one project. It is safe for concurrent use, also by
// several processes.
type Store struct {
	cfg     Config
	found   *worktree.Finder
	numbers numbers
	taking  *semaphore.Semaphore // of the snapshots that are taken; entered with the worktree's lock held
}

var (
	_ thread.Differ      = (*Store)(nil)
	_ thread.RefRepairer = (*Store)(nil)
	_ worktree.Saver     = (*Store)(nil)
)

// New makes a Store of snapshots of the worktrees that a Finder finds.
func New(found *worktree.Finder, cfg Config) *Store {
	if cfg.Limit <= 0 {
		cfg.Limit = DefaultLimit
	}
	return &Store{
		cfg: cfg, found: found, numbers: numbers{next: map[string]int{}},
		taking: semaphore.New(runtime.GOMAXPROCS(0), takeShare),
	}
}

// open finds the worktree that dir lies in.
func (s *Store) open(ctx context.Context, dir string) (files, error) {
	w, err := s.found.Open(ctx, dir)
	return files{w}, err
}

// about is what is known of a thread.
func (s *Store) about(id thread.ID) About {
	if s.cfg.About == nil {
		return About{}
	}
	about, _ := s.cfg.About(id)
	return about
}
