package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// Project is the folder that a server serves, with the places of its files.
type Project struct {
	// Root is the main worktree's root of the repository, or the current folder without one.
	Root string
	// Repository is false where there is no git repository, or none that can be used.
	Repository bool
	// Refused says why a repository that is there cannot be used.
	Refused error
	// Socket is where the server listens.
	Socket string
}

// stateName is the folder of a project's state below its root.
const stateName = ".orchestrator"

// StateDir holds everything the server keeps: 0700.
func (p Project) StateDir() string { return filepath.Join(p.Root, stateName) }

// LogFile is where the server logs.
func (p Project) LogFile() string { return filepath.Join(p.StateDir(), "log", "server.log") }

// LockFile is held by the server as long as it runs.
func (p Project) LockFile() string { return filepath.Join(p.StateDir(), "server.lock") }

// findProject finds the project that a folder belongs to.
func findProject(dir, runtimeDir string) (Project, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return Project{}, fmt.Errorf("find the project's folder: %w", err)
	}
	p := Project{Root: dir}
	root, err := mainWorktree(context.Background(), dir)
	if root != "" {
		p.Root = root
	}
	switch {
	case err == nil:
		p.Repository = true
	case !errors.Is(err, thread.ErrNoRepository):
		p.Refused = err
	}
	run, err := runtimeFolder(runtimeDir)
	if err != nil {
		return Project{}, err
	}
	sum := sha256.Sum256([]byte(p.Root))
	p.Socket = filepath.Join(run, hex.EncodeToString(sum[:6])+".sock")
	if len(p.Socket) > 100 {
		return Project{}, fmt.Errorf("the socket's path %s is too long for a unix socket: set XDG_RUNTIME_DIR to a shorter folder", p.Socket)
	}
	return p, nil
}

// mainWorktree finds the main worktree that dir belongs to, through linked worktrees; the worktree itself where the
// main one is bare or elsewhere. Of a repository that git refuses the root comes with the error.
func mainWorktree(ctx context.Context, dir string) (string, error) {
	w, err := git.Find(dir)
	if err != nil {
		return "", err
	}
	g, err := git.New()
	if err != nil {
		return w.Root, err
	}
	if err := g.Check(ctx, w); err != nil {
		return w.Root, err
	}
	if w.Linked() && filepath.Base(w.Common) == ".git" {
		main, err := git.Find(filepath.Dir(w.Common))
		if err == nil && main.Common == w.Common && g.Check(ctx, main) == nil {
			return main.Root, nil
		}
	}
	return w.Root, nil
}

// runtimeFolder makes the folder of our sockets: below XDG_RUNTIME_DIR, or below the temporary
// folder. One that somebody else owns or can write to is refused.
func runtimeFolder(runtimeDir string) (string, error) {
	dir := filepath.Join(runtimeDir, "orchestrator")
	if runtimeDir == "" {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("orchestrator-%d", os.Getuid()))
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("make the folder of the socket: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("look at the folder of the socket: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || ok && int(st.Uid) != os.Getuid() {
		return "", fmt.Errorf("%s is not a folder of yours alone (%v): remove it or set XDG_RUNTIME_DIR", dir, info.Mode())
	}
	return dir, nil
}

// makeState makes the project's state folder, invisible to git.
func (p Project) makeState() error {
	for _, dir := range []string{p.StateDir(), filepath.Dir(p.LogFile())} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return p.hint(fmt.Errorf("make the state folder: %w", err))
		}
	}
	ignore := filepath.Join(p.StateDir(), ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(ignore, []byte("*\n"), 0o600); err != nil {
			return p.hint(fmt.Errorf("make the state folder: %w", err))
		}
	}
	return nil
}

// hint says what to do about a state folder that cannot be used.
func (p Project) hint(err error) error {
	switch {
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EEXIST):
		return thread.Hint(err, "move the file "+p.StateDir()+" away: it is where the state folder goes")
	case errors.Is(err, syscall.EROFS):
		return thread.Hint(fmt.Errorf("%w: %w", thread.ErrReadOnly, err), "have the file system of "+p.Root+" mounted so that it can be written")
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return thread.Hint(fmt.Errorf("%w: %w", thread.ErrReadOnly, err), "make "+p.StateDir()+" or the folder it goes to writable for you")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return thread.Hint(fmt.Errorf("%w: %w", thread.ErrDiskFull, err), "free some space on the disk of "+p.StateDir())
	default:
		return err
	}
}
