package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/fair"
	"orchestrator/thread/pattern"
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
	cfg   Config
	git   *git.Git
	locks *locks
	line  *fair.Line // of the snapshots that are taken; entered with the worktree's lock held

	// mu guards checked, next and hears. It is taken after a worktree's lock, never before one.
	mu      sync.Mutex
	hears   func(string)
	checked map[string]bool // common folders that git said may be used
	next    map[string]int  // by common folder and thread: a number that may be free

	// settling are the syncs of new worktrees' files, which Add does not wait for; they end by themselves.
	settling sync.WaitGroup
}

// Tell has a function called with what was found damaged and set right while it was used, for people.
func (s *Store) Tell(hears func(string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hears = hears
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
	_ thread.SnapshotMender = (*Store)(nil)
	_ thread.Teller         = (*Store)(nil)
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
	return &Store{cfg: cfg, git: g, locks: newLocks(), line: fair.NewLine(runtime.GOMAXPROCS(0), takeShare), checked: map[string]bool{}, next: map[string]int{}}, nil
}

var threadName = pattern.Lazy(`^[0-9A-Za-z][0-9A-Za-z_-]{0,63}$`)

func checkID(id thread.ID) error {
	if !threadName().MatchString(string(id)) {
		return fmt.Errorf("thread id %q: %w", git.Printable(string(id)), thread.ErrInvalid)
	}
	return nil
}

// open finds the worktree that dir lies in and makes its state folder.
func (s *Store) open(ctx context.Context, dir string) (*worktree, error) {
	found, err := s.find(ctx, dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, thread.Hint(fmt.Errorf("%w: %w", err, thread.ErrNotFound),
				"the folder was deleted or moved; its last snapshot can still be forked")
		}
		return nil, err
	}
	s.mu.Lock()
	known := s.checked[found.Common]
	s.mu.Unlock()
	if !known {
		if err := s.git.Check(ctx, found); err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.checked[found.Common] = true
		s.mu.Unlock()
	}
	w := s.at(found)
	if err := w.prepare(ctx); err != nil {
		return nil, fmt.Errorf("open snapshots: %w", err)
	}
	return w, nil
}

func (s *Store) at(found git.Worktree) *worktree {
	w := &worktree{Worktree: found, git: s.git, locks: s.locks, state: resolved(s.cfg.State), trees: resolved(s.cfg.Worktrees)}
	var key string
	key, w.below = s.repository(found)
	w.home = s.home(key, w.name())
	return w
}

// openLike opens a worktree that was just made, with another's settings where they must be the same.
func (s *Store) openLike(ctx context.Context, dir string, other *worktree) (*worktree, error) {
	found, err := git.Find(dir)
	if err != nil {
		return nil, err
	}
	w := s.at(found)
	own := filepath.Join(found.GitDir, "config.worktree")
	if _, err := os.Lstat(own); err == nil || found.Common != other.Common || other.set.Sparse {
		return s.open(ctx, dir)
	}
	w.set = other.set
	w.set.Origins = append(slices.Clone(other.set.Origins), stampOf(own))
	if err := os.MkdirAll(w.home, 0o700); err != nil {
		return nil, err
	}
	if err := w.freeze(ctx); err != nil {
		return nil, err
	}
	return w, w.writeShadow()
}

// home is the state folder of one worktree. It goes by names within the project and its repository, which stay when
// the project, the state or the worktree is moved.
func (s *Store) home(repository, worktree string) string {
	part := "main"
	if worktree != "" {
		part = short(worktree)
	}
	return filepath.Join(s.cfg.State, repository, part)
}

// lock makes the caller the only one who works on this worktree, other processes included.
func (w *worktree) lock(ctx context.Context) (unlock func(), err error) {
	return w.locks.lock(ctx, filepath.Join(w.home, "lock"))
}

// lockAll makes the caller the only one of us who changes the repository's list of worktrees: git stumbles over one
// that another git is about to write. It is taken after a worktree's lock, never before one.
func (w *worktree) lockAll(ctx context.Context) (unlock func(), err error) {
	return w.locks.lock(ctx, filepath.Join(w.commonState(), "lock"))
}

// resolved follows the links in a path as far as it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}

// writeFile writes a file of ours whole or not at all.
func writeFile(path string, b []byte, sync bool) error {
	f, err := os.CreateTemp(filepath.Dir(path), "new-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil && sync {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	if sync {
		return syncDir(filepath.Dir(path))
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
