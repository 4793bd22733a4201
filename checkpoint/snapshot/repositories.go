package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// ownRepository is the state folder of the project's own repository.
const ownRepository = "own"

// repository names a repository's folder in our state. below is where the project holds it, "" for its own and for
// one that lies elsewhere.
func (s *Store) repository(found git.Worktree) (key, below string) {
	if own, err := git.Find(s.cfg.Dir); err == nil && own.Common == found.Common {
		return ownRepository, ""
	}
	root := mainRoot(found)
	if below, err := filepath.Rel(resolved(s.cfg.Dir), root); err == nil && filepath.IsLocal(below) && below != "." {
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
func (s *Store) folders() (found []folder, refused []string, err error) {
	found = []folder{{ownRepository, s.cfg.Dir}}
	entries, err := os.ReadDir(s.cfg.State)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for _, e := range entries {
		name := filepath.Join(s.cfg.State, e.Name(), "root")
		if _, err := os.Lstat(name); err != nil || e.Name() == ownRepository {
			continue // not a repository inside the project
		}
		b, err := private.ReadRegular(name, 64<<10)
		dir := filepath.Join(resolved(s.cfg.Dir), string(b))
		if err != nil || !filepath.IsLocal(string(b)) || short(string(b)) != e.Name() {
			refused = append(refused, fmt.Sprintf("did not open what %s names: it is not a repository inside the project", name))
			continue
		}
		if w, err := git.Find(dir); err == nil && w.Root == dir { // else it is gone, or reached through a link
			if key, _ := s.repository(w); key == e.Name() {
				found = append(found, folder{key, dir})
			}
		}
	}
	return found, refused, nil
}

// each calls do for every repository that the store has worked in, with one of its worktrees.
func (s *Store) each(ctx context.Context, do func(*worktree) error) error {
	all, _, err := s.folders()
	if err != nil {
		return err
	}
	for _, f := range all {
		w, err := s.open(ctx, f.dir)
		if errors.Is(err, thread.ErrNoRepository) || errors.Is(err, thread.ErrNotFound) ||
			err != nil && f.key != ownRepository && ctx.Err() == nil {
			continue
		}
		if err == nil {
			err = do(w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
