package snapshot

import (
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/semaphore"
)

// DefaultLimit is the largest file that a snapshot holds, in bytes, unless the configuration says otherwise.
const DefaultLimit = 50 << 20

// takeShare is for how long a snapshot that is taken holds up others: as many as there are processors are taken at a
// time, each with a few git processes.
const takeShare = time.Second

// Config says where a Store works.
type Config struct {
	// Dir is the project's folder. There need not be a repository yet.
	Dir string
	// State is the store's own folder, made when it is missing (0700).
	State string
	// Worktrees is where Add makes worktrees, made when it is missing (0700).
	Worktrees string
	// Limit is the largest new or changed file that a snapshot holds, in bytes; 0 is DefaultLimit.
	Limit int64
	// Env follows the process's environment for git.
	Env []string
	// About says what is known of a thread, false when nothing is: it is kept with the thread's snapshots, for the day
	// when nothing else knows. May be nil.
	About func(thread.ID) (About, bool)
}

// Store takes and restores snapshots of the worktrees of one project. It is safe for concurrent use, also by
// several processes.
type Store struct {
	cfg     Config
	finder  *finder
	numbers numbers
	taking  *semaphore.Semaphore // of the snapshots that are taken; entered with the worktree's lock held

	// settling are the syncs of new worktrees' files, which Add does not wait for; they end by themselves.
	settling sync.WaitGroup
}

// OnRepair has a function called with what was found damaged and set right while it was used, for people.
func (s *Store) OnRepair(report func(string)) {
	s.finder.mu.Lock()
	defer s.finder.mu.Unlock()
	s.finder.onRepair = report
}

// Close waits until the files of the worktrees that Add made are on the disk.
func (s *Store) Close() error {
	s.settling.Wait()
	return nil
}

var (
	_ thread.Worktrees      = (*Store)(nil)
	_ thread.Differ         = (*Store)(nil)
	_ thread.WorktreeFinder = (*Store)(nil)
	_ thread.RefRepairer    = (*Store)(nil)
	_ thread.RepairReporter = (*Store)(nil)
)

// New makes a Store. It touches nothing yet.
func New(cfg Config) (*Store, error) {
	if cfg.Limit <= 0 {
		cfg.Limit = DefaultLimit
	}
	for _, dir := range []*string{&cfg.Dir, &cfg.State, &cfg.Worktrees} {
		if *dir == "" {
			return nil, fmt.Errorf("open snapshots: a folder is not set: %w", thread.ErrInvalid)
		}
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return nil, fmt.Errorf("open snapshots: %w", err)
		}
		*dir = abs
	}
	g, err := git.New(cfg.Env...)
	if err != nil {
		return nil, fmt.Errorf("open snapshots: %w", err)
	}
	f := &finder{dir: cfg.Dir, state: cfg.State, trees: cfg.Worktrees, git: g, locks: newLocks(), checked: map[string]bool{}}
	return &Store{
		cfg: cfg, finder: f, numbers: numbers{next: map[string]int{}}, taking: semaphore.New(runtime.GOMAXPROCS(0), takeShare),
	}, nil
}

// about is what is known of a thread.
func (s *Store) about(id thread.ID) About {
	if s.cfg.About == nil {
		return About{}
	}
	about, _ := s.cfg.About(id)
	return about
}
