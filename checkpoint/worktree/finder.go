package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
)

// Config configures a Finder.
type Config struct {
	// Dir is the project's folder. There need not be a repository yet.
	Dir string
	// State is our own folder, created if missing (0700).
	State string
	// Worktrees is where Add creates worktrees, created if missing (0700).
	Worktrees string
	// Env is added to the process's environment for git.
	Env []string
}

// Finder finds the repositories and worktrees of a project, opens them, and repairs those that a power cut emptied. It
// is safe for concurrent use, also by several processes.
type Finder struct {
	dir, state, trees string // as in Config
	git               *git.Git
	locks             *repository.Locks

	// mu guards checked and onRepair. It is taken after a worktree's lock, never before one.
	mu       sync.Mutex
	onRepair func(string)
	checked  map[string]bool // common folders that git said may be used
}

// NewFinder creates a Finder. It touches nothing yet.
func NewFinder(cfg Config) (*Finder, error) {
	for _, dir := range []*string{&cfg.Dir, &cfg.State, &cfg.Worktrees} {
		if *dir == "" {
			return nil, thread.Kindf(thread.ErrInvalid, "open snapshots: a folder is not set")
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
	return &Finder{
		dir: cfg.Dir, state: cfg.State, trees: cfg.Worktrees, git: g, locks: repository.NewLocks(),
		checked: map[string]bool{},
	}, nil
}

// OnRepair sets a function to call with reports, for people, of damage that was repaired during use.
func (f *Finder) OnRepair(report func(string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.onRepair = report
}

// ownRepository is the state folder of the project's own repository.
const ownRepository = "own"

// repository names a repository's folder in our state. below is its path inside the project, "" for the project's own
// and for one elsewhere.
func (f *Finder) repository(found git.Worktree) (key, below string) {
	if own, err := git.Find(f.dir); err == nil && own.Common == found.Common {
		return ownRepository, ""
	}
	root := mainRoot(found)
	if below, err := filepath.Rel(resolved(f.dir), root); err == nil && filepath.IsLocal(below) && below != "." {
		return disk.Short(below), below
	}
	return disk.Short(found.Common), ""
}

// mainRoot is the repository's main worktree, or this one if it has none.
func mainRoot(w git.Worktree) string {
	if w.Linked() && filepath.Base(w.Common) == ".git" {
		return filepath.Dir(w.Common)
	}
	return w.Root
}

// folder is a repository that our state has a folder for.
type folder struct {
	key string
	dir string // one of its worktrees
}

// folders returns the project's own repository and those inside the project that threads have worked in. The state is
// not trusted about them: one is reported in refused unless it is inside the project, reached through no link, and is
// the repository that the folder is for.
func (f *Finder) folders() (found []folder, refused []string, err error) {
	found = []folder{{ownRepository, f.dir}}
	entries, err := os.ReadDir(f.state)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for _, e := range entries {
		name := filepath.Join(f.state, e.Name(), "root")
		if _, err := os.Lstat(name); err != nil || e.Name() == ownRepository {
			continue // not a repository inside the project
		}
		b, err := disk.ReadSmall(name)
		dir := filepath.Join(resolved(f.dir), string(b))
		if err != nil || !filepath.IsLocal(string(b)) || disk.Short(string(b)) != e.Name() {
			refused = append(refused, fmt.Sprintf("ignored %s: it does not name a repository inside the project", name))
			continue
		}
		if w, err := git.Find(dir); err == nil && w.Root == dir { // otherwise it is gone, or reached through a link
			if key, _ := f.repository(w); key == e.Name() {
				found = append(found, folder{key, dir})
			}
		}
	}
	return found, refused, nil
}

func (f *Finder) at(found git.Worktree) *repository.Worktree {
	key, below := f.repository(found)
	return repository.At(found, repository.Config{
		Git: f.git, Locks: f.locks, State: resolved(f.state), Key: key, Home: f.home(key, found), Below: below,
		Trees: resolved(f.trees),
	})
}

// home is the state folder of one worktree. It is named by names within the project and its repository, which stay the
// same when the project, the state or the worktree is moved.
func (f *Finder) home(key string, found git.Worktree) string {
	part := "main"
	if name := repository.Name(found); name != "" {
		part = disk.Short(name)
	}
	return filepath.Join(f.state, key, part)
}

// records returns our records of the worktrees of a repository; damaged names unreadable ones.
func (f *Finder) records(key string) (all []record, damaged []string, err error) {
	dir := filepath.Join(f.state, key)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for _, e := range entries {
		r, err := recordAt(filepath.Join(dir, e.Name()))
		switch {
		case err == nil && disk.Short(r.Name) == e.Name():
			all = append(all, r)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR):
			damaged = append(damaged, filepath.Join(dir, e.Name(), recordFile))
		}
	}
	return all, damaged, nil
}
