// Package project says which project a folder belongs to and where its state is kept: outside of the project, where
// neither a repository nor an agent that may write the project reaches it.
//
// A project is known by a random mark that we write into its git directory, checked against what its state records
// about the place where it was: a moved project is recognised by the git directory's inode, a copy gets a state of its
// own, and where that cannot be told the person is asked. Without a git directory of ours to write in, it is known
// by its real path. Whatever the project holds is data: it can name no state but the one that is kept for it.
package project

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

// Project is the folder that a server serves, with the places of its files.
type Project struct {
	// Root is the main worktree's root of the repository, or the current folder without one.
	Root string
	// Repository is false where there is no git repository, or none that can be used.
	Repository bool
	// Refused is why a repository that is there cannot be used.
	Refused error
	// ID is the state's own, random: it names the folder and the socket, and marks what is ours in a repository
	// that others use as well. It is empty as long as the project has no state.
	ID string
	// Was holds the earlier roots of a project that was moved, the latest first.
	Was []string
	// Notices are what a person should know about how the state was found.
	Notices []string
	// Problem is why there is no state to use; Claim returns it.
	Problem error
	// Socket is where a server that is started from here listens; it is empty as long as the project has no state,
	// and where there is no place for it. One that was started from elsewhere may listen at another: Dial finds it.
	Socket string

	places Places
	here   ground
	found  decision
	folder string // the state's folder in its home
	// unplaced is why there is no place for the socket of a server that is started from here.
	unplaced error
}

// Find finds the project that a folder belongs to, and its state. It reads only; Claim makes what is missing.
func Find(ctx context.Context, dir string, places Places) (Project, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return Project{}, fmt.Errorf("find the project's folder: %w", err)
	}
	p := Project{Root: dir, places: places}
	w, err := mainWorktree(ctx, dir)
	if w.Root != "" {
		p.Root = w.Root
	}
	switch {
	case err == nil:
		p.Repository = true
	case !errors.Is(err, thread.ErrNoRepository):
		p.Refused = err
	}
	if p.here, err = look(p.Root, w, p.Refused != nil); err != nil {
		return p, err
	}
	if p.Problem = places.check(p.Root); p.Problem == nil {
		p.Problem = p.decide()
	}
	return p, nil
}

// decide finds out which state is this project's.
func (p *Project) decide() error {
	home, err := private.Open(p.places.State, homeName)
	if errors.Is(err, fs.ErrNotExist) {
		p.found = decision{kind: isNew}
		return nil
	}
	if err != nil {
		return hint(fmt.Errorf("open the state folder: %w", err))
	}
	defer home.Close()
	all, err := records(home)
	if err != nil {
		return hint(err)
	}
	p.found = match(all, p.here)
	return p.use(p.found)
}

// use applies a decision to the state.
func (p *Project) use(d decision) error {
	p.Notices = d.notices
	if d.kind == isUndecided {
		return thread.Hint(fmt.Errorf("%w: %s", ErrUndecided, d.why), d.remedy)
	}
	if d.kind == isNew || d.kind == isCopy {
		return nil
	}
	p.take(d.state)
	return nil
}

// take makes a state the project's.
func (p *Project) take(s state) {
	p.ID, p.folder, p.Was = s.ID, s.folder, nil
	for _, root := range s.Was {
		p.Was = append(p.Was, string(root))
	}
	if s.Root != "" && p.found.kind == isAlias {
		p.Root = string(s.Root)
	}
	p.Socket, p.unplaced = p.places.socket(p.Root, s.ID)
}

// Folder opens the state's folder, which is this user's alone.
func (p Project) Folder() (*private.Folder, error) {
	if p.Problem != nil {
		return nil, p.Problem
	}
	if p.folder == "" {
		return nil, fmt.Errorf("open the state folder of %s: %w", p.Root, fs.ErrNotExist)
	}
	f, err := private.Make(p.places.State, homeName, p.folder)
	if err != nil {
		return nil, hint(fmt.Errorf("open the state folder: %w", err))
	}
	return f, nil
}

// StateDir holds everything that the server keeps; it is empty as long as there is none.
func (p Project) StateDir() string {
	if p.folder == "" {
		return ""
	}
	return filepath.Join(p.places.home(), p.folder)
}

// ThreadHome is the folder of a thread in it.
func (p Project) ThreadHome(id thread.ID) string {
	return filepath.Join(p.StateDir(), "threads", string(id))
}

// mainWorktree finds the main worktree that dir belongs to, through linked worktrees; the worktree itself where the
// main one is bare or elsewhere. Of a repository that git refuses the worktree comes with the error.
func mainWorktree(ctx context.Context, dir string) (git.Worktree, error) {
	w, err := git.Find(dir)
	if err != nil {
		return git.Worktree{}, err
	}
	g, err := git.New()
	if err != nil {
		return w, err
	}
	if err := g.Check(ctx, w); err != nil {
		return w, err
	}
	if w.Linked() && filepath.Base(w.Common) == ".git" {
		main, err := git.Find(filepath.Dir(w.Common))
		if err == nil && main.Common == w.Common && g.Check(ctx, main) == nil {
			return main, nil
		}
	}
	return w, nil
}

// Probe writes a file to the state's folder and removes it: a full disk takes a name and no content.
func (p Project) Probe() error {
	folder, err := p.Folder()
	if err != nil {
		return err
	}
	defer folder.Close()
	name := "probe-" + newMark()[:8]
	if err := folder.Create(name, make([]byte, 4096)); err != nil {
		return hint(fmt.Errorf("write to the state folder: %w", err))
	}
	return folder.Remove(name)
}

// Older reports whether the folder lies here in which builds before this layout kept their state. Nothing of it is read.
func (p Project) Older() bool {
	info, err := os.Lstat(filepath.Join(p.Root, ".orchestrator"))
	return err == nil && info.IsDir()
}

// Still reports an error where the project's folder is no longer the one that was found.
func (p Project) Still() error {
	now := devOf(p.Root)
	switch {
	case now.same(p.here.rootAt, true):
		return nil
	case now.known():
		return fmt.Errorf("another folder is at %s now", p.Root)
	default:
		return fmt.Errorf("the project's folder %s is gone, it was moved or removed", p.Root)
	}
}
