// Package project says which project a folder belongs to and where its state lies: outside of the project, where
// neither a repository nor an agent that may write the project reaches it.
//
// A project is known by a random mark that we write into its git directory, checked against what its state records about
// the place where it was: one that was moved is recognised by the git directory's inode, a copy gets a state of its
// own, and where neither can be told the person is asked. Without a git directory of ours to write in, it is known
// by its real path. Whatever the project holds is data: it can name no state but the one that lies here for it.
package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// The reasons for which a project has no state to use.
var (
	// ErrUndecided says that it cannot be told whether a state belongs to this project: the person says so.
	ErrUndecided = errors.New("it is not clear which threads belong to this folder")
	// ErrMoved says that a server still runs for the place where the project was.
	ErrMoved = errors.New("the project was moved while its server runs")
	// ErrWide says that the project is a folder that holds much else, which the person has not accepted yet.
	ErrWide = errors.New("this folder needs your confirmation before it becomes a project")
	// ErrExposed says that our files would lie where an agent may write.
	ErrExposed = errors.New("orchestrator's files would lie where agents may write")
)

// Project is the folder that a server serves, with the places of its files.
type Project struct {
	// Root is the main worktree's root of the repository, or the current folder without one.
	Root string
	// Repository is false where there is no git repository, or none that can be used.
	Repository bool
	// Refused says why a repository that is there cannot be used.
	Refused error
	// ID is the state's own, random: it names the folder and the socket, and marks what is ours in a repository
	// that others use as well. It is empty as long as the project has no state.
	ID string
	// Was holds the earlier roots of a project that was moved, the latest first.
	Was []string
	// Notices are what a person should know about how the state was found.
	Notices []string
	// Problem says why there is no state to use; Claim returns it.
	Problem error
	// Socket is where a server that is started from here listens; it is empty as long as the project has no state,
	// and where there is no place for it. One that was started from elsewhere may listen at another: Dial finds it.
	Socket string

	places Places
	here   ground
	found  decision
	folder string // the state's folder in its home
	// unplaced says why there is no place for the socket of a server that is started from here.
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

// Claim makes the project's state where it is missing and puts down where the project lies, so that it is found
// again. It fails where the state cannot be used.
func (p *Project) Claim() error {
	unsure := errors.Is(p.Problem, ErrUndecided) // another client may be just about to settle it
	if p.Problem != nil && !unsure || p.ID != "" && !p.found.write {
		return p.Problem
	}
	home, err := Home(p.places)
	if err != nil {
		return err
	}
	defer home.Close()
	lock, err := lockHome(home)
	if err != nil {
		return err
	}
	defer lock.Close()
	p.here = p.here.again() // another client may have claimed it meanwhile
	all, err := records(home)
	if err != nil {
		return hint(err)
	}
	p.found = match(all, p.here)
	if p.Problem = p.use(p.found); p.Problem != nil {
		return p.Problem
	}
	return p.settle(home, p.found)
}

// settle writes what a decision changes. The home is locked.
func (p *Project) settle(home *private.Folder, d decision) error {
	switch d.kind {
	case isNew, isCopy:
		s, err := p.create(home, d)
		if err != nil {
			return hint(fmt.Errorf("make the state folder: %w", err))
		}
		p.take(s)
		return nil
	case isUndecided, isAlias:
		return nil
	case isFound, isMoved:
	}
	if !d.write {
		return nil
	}
	if d.kind == isMoved {
		if pid, runs := serving(home, d.state.folder); runs {
			return thread.Hint(fmt.Errorf("%w: process %d serves %s", ErrMoved, pid, d.state.Root),
				"`orchestrator stop` here ends it with its agents, which can be resumed; the next verb continues in "+p.Root)
		}
	}
	s, err := p.put(home, d.state, d)
	if err != nil {
		return hint(fmt.Errorf("record where the project is: %w", err))
	}
	p.take(s)
	return nil
}

// create makes a state of its own for the project.
func (p *Project) create(home *private.Folder, d decision) (state, error) {
	s := state{record: record{Version: recordVersion, ID: newMark()}}
	s.folder = folderName(p.Root, s.ID)
	folder, err := home.Make(s.folder)
	if err != nil {
		return s, err
	}
	folder.Close()
	return p.put(home, s, d)
}

// put writes the state's record and the project's mark where that can be. The record goes first: with it the mark of
// one that was killed in between is written by the next.
func (p *Project) put(home *private.Folder, s state, d decision) (state, error) {
	if s.Root != "" && s.Root != pathText(p.Root) {
		s.Was = append([]pathText{s.Root}, s.Was...)
		s.Was = s.Was[:min(len(s.Was), maxWas)]
	}
	s.Root, s.RootAt, s.GitDir, s.GitAt = pathText(p.Root), p.here.rootAt, pathText(p.here.gitDir), p.here.gitAt
	var missing bool
	s.Mark, missing = p.here.markFor(s, d)
	folder, err := home.Open(s.folder)
	if err != nil {
		return s, err
	}
	defer folder.Close()
	if err := s.write(folder); err != nil || !missing {
		return s, err
	}
	if err := writeMark(p.here.gitDir, s.Mark); err != nil {
		p.Notices = append(p.Notices, fmt.Sprintf("this project is known by its path alone: %v", err))
		s.Mark = ""
		return s, s.write(folder)
	}
	p.here.mark = s.Mark
	return s, nil
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

// LogFile is where the server logs.
func (p Project) LogFile() string { return filepath.Join(p.StateDir(), logFolder, logName) }

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

// hint says what a person can do about a file or folder that cannot be used.
func hint(err error) error {
	var with *thread.HintError
	if err == nil || errors.As(err, &with) {
		return err
	}
	var at *private.Error
	path := "the state folder"
	if errors.As(err, &at) {
		path = at.Path
	}
	switch {
	case at != nil && at.Remedy != "":
		return err // it says so
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return thread.Hint(err, "move the file "+path+" away: a folder of orchestrator's goes there")
	case errors.Is(err, syscall.EROFS):
		return thread.Hint(fmt.Errorf("%w: %w", thread.ErrReadOnly, err),
			"have the file system of "+path+" mounted so that it can be written, or set XDG_STATE_HOME to a folder elsewhere")
	case errors.Is(err, fs.ErrPermission):
		return thread.Hint(fmt.Errorf("%w: %w", thread.ErrReadOnly, err),
			"make "+path+" or the folder it goes to writable for you, or set XDG_STATE_HOME to a folder elsewhere")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return thread.Hint(fmt.Errorf("%w: %w", thread.ErrDiskFull, err), "free some space on the disk of "+path)
	default:
		return err
	}
}

// exists reports whether something lies at a path; an error other than its absence means that it cannot be told.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Probe writes to the state's folder and takes it back: a full disk takes a name and no content.
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
