package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Project is the folder that a server serves, with the places of its files.
type Project struct {
	// Root is the main worktree's root of the repository, or the current folder without one.
	Root string
	// Repository is false where there is no git repository.
	Repository bool
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
	if root, ok := mainWorktree(dir); ok {
		p.Root, p.Repository = root, true
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

// mainWorktree asks git for the main worktree that dir belongs to, through linked worktrees.
func mainWorktree(dir string) (string, bool) {
	cmd := exec.Command("git", "-C", dir, "rev-parse", "--path-format=absolute", "--git-common-dir", "--is-bare-repository")
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.Output()
	if err != nil {
		return "", false
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 || lines[1] != "false" || filepath.Base(lines[0]) != ".git" {
		// A bare repository, a submodule or a detached git folder: the worktree one stands in.
		top := exec.Command("git", "-C", dir, "rev-parse", "--show-toplevel")
		out, err := top.Output()
		if err != nil {
			return "", false
		}
		return strings.TrimSpace(string(out)), true
	}
	return filepath.Dir(lines[0]), true
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
			return fmt.Errorf("make the state folder: %w", err)
		}
	}
	ignore := filepath.Join(p.StateDir(), ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(ignore, []byte("*\n"), 0o600); err != nil {
			return fmt.Errorf("make the state folder: %w", err)
		}
	}
	return nil
}
