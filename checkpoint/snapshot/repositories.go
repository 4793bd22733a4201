package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"orchestrator/checkpoint/git"
	"orchestrator/thread/private"
)

// finder finds the repositories and worktrees of a project, opens them, and sets right what was moved or left hollow.
type finder struct {
	dir, state, trees string // as Config has them
	git               *git.Git
	locks             *locks

	// mu guards checked and onRepair. It is taken after a worktree's lock, never before one.
	mu       sync.Mutex
	onRepair func(string)
	checked  map[string]bool // common folders that git said may be used
}

// ownRepository is the state folder of the project's own repository.
const ownRepository = "own"

// repository names a repository's folder in our state. below is where the project holds it, "" for its own and for
// one that lies elsewhere.
func (f *finder) repository(found git.Worktree) (key, below string) {
	if own, err := git.Find(f.dir); err == nil && own.Common == found.Common {
		return ownRepository, ""
	}
	root := mainRoot(found)
	if below, err := filepath.Rel(resolved(f.dir), root); err == nil && filepath.IsLocal(below) && below != "." {
		return short(below), below
	}
	return short(found.Common), ""
}

// mainRoot is the repository's main worktree, or this one where it has none.
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

// folders returns the project's own repository and those inside of the project that threads have worked in. What the
// state says of them is not believed: one is named in refused unless it lies below the project, reached through no
// link, and is the repository that the folder is for.
func (f *finder) folders() (found []folder, refused []string, err error) {
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
		b, err := private.ReadRegular(name, 64<<10)
		dir := filepath.Join(resolved(f.dir), string(b))
		if err != nil || !filepath.IsLocal(string(b)) || short(string(b)) != e.Name() {
			refused = append(refused, fmt.Sprintf("did not open what %s names: it is not a repository inside the project", name))
			continue
		}
		if w, err := git.Find(dir); err == nil && w.Root == dir { // else it is gone, or reached through a link
			if key, _ := f.repository(w); key == e.Name() {
				found = append(found, folder{key, dir})
			}
		}
	}
	return found, refused, nil
}

func (f *finder) at(found git.Worktree) *worktree {
	key, below := f.repository(found)
	a := &access{Worktree: found, git: f.git, locks: f.locks, below: below}
	state := resolved(f.state)
	w := &worktree{access: a, repo: &repository{
		access: a, journals: journals{state: state, repository: key}, state: state, trees: resolved(f.trees),
	}}
	w.home = f.home(key, w.name())
	return w
}

// home is the state folder of one worktree. It goes by names within the project and its repository, which stay when
// the project, the state or the worktree is moved.
func (f *finder) home(repository, worktree string) string {
	part := "main"
	if worktree != "" {
		part = short(worktree)
	}
	return filepath.Join(f.state, repository, part)
}

// records returns what our state records about the worktrees of a repository; damaged names what cannot be read.
func (f *finder) records(repository string) (all []record, damaged []string, err error) {
	dir := filepath.Join(f.state, repository)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for _, e := range entries {
		r, err := recordAt(filepath.Join(dir, e.Name()))
		switch {
		case err == nil && short(r.Name) == e.Name():
			all = append(all, r)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR):
			damaged = append(damaged, filepath.Join(dir, e.Name(), recordFile))
		}
	}
	return all, damaged, nil
}
