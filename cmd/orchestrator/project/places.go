package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

const (
	// homeName is our folder in the person's folder for state, and in the one for sockets.
	homeName = "orchestrator"
	// runName is the folder of sockets in our home, where there is none for them elsewhere.
	runName = "run"
	// maxSocket is the longest path of a unix socket.
	maxSocket = 100
)

// Places are the person's folders that a project's files go to. They come from the environment, never from a
// project.
type Places struct {
	Home    string   // the person's own folder
	State   string   // $XDG_STATE_HOME
	Runtime string   // $XDG_RUNTIME_DIR; "" where there is none
	Temp    []string // folders that every program writes to, agents in a sandbox included
	// Accepted reports whether the person has accepted a folder with much else in it as a project.
	Accepted func(root string) bool
}

// Home opens our folder in the person's folder for state, which it makes where it is missing. It holds the projects'
// states and what belongs to no project: the copies of the program, what is trusted.
func Home(places Places) (*private.Folder, error) {
	if err := places.checkState(); err != nil {
		return nil, err
	}
	f, err := private.Make(places.State, homeName)
	if err != nil {
		return nil, hint(fmt.Errorf("make the state folder: %w", err))
	}
	return f, nil
}

// home is our folder's path, with no link in it where it exists.
func (p Places) home() string { return resolved(filepath.Join(p.State, homeName)) }

// resolved is a path without links as far as it exists.
func resolved(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	up := filepath.Dir(path)
	if up == path {
		return path
	}
	return filepath.Join(resolved(up), filepath.Base(path))
}

// temporary returns the temporary folder that a path is in, "" for none.
func (p Places) temporary(path string) string {
	for _, t := range p.Temp {
		if t != "" && filepath.IsAbs(t) && (git.Within(path, filepath.Clean(t)) || git.Within(path, resolved(t))) {
			return t
		}
	}
	return ""
}

// checkState refuses a home of our files that agents may write wherever they run.
func (p Places) checkState() error {
	if !filepath.IsAbs(p.State) {
		return thread.Hint(errors.New("there is no folder for orchestrator's state"),
			"set HOME, or XDG_STATE_HOME, to an absolute path")
	}
	if t := p.temporary(p.home()); t != "" {
		return thread.Hint(fmt.Errorf("%w: %s is below the temporary folder %s", ErrExposed, p.home(), t),
			"set XDG_STATE_HOME to a folder elsewhere")
	}
	return nil
}

// check refuses a project whose agents could write our files, and one that the person must accept before.
func (p Places) check(root string) error {
	if err := p.checkState(); err != nil {
		return err
	}
	wide := root == resolved(p.Home) || root == string(filepath.Separator)
	inside := git.Within(p.home(), root)
	if !wide && inside {
		return thread.Hint(fmt.Errorf("%w: the project %s holds orchestrator's own state %s", ErrExposed, root, p.home()),
			"set XDG_STATE_HOME to a folder outside of the project, or work in a folder below")
	}
	if !wide || p.Accepted != nil && p.Accepted(root) {
		return nil
	}
	what := "it is your home folder"
	if root == string(filepath.Separator) {
		what = "it is the whole file system"
	}
	if inside {
		what += ", and its agents could write orchestrator's own state"
	}
	return thread.Hint(fmt.Errorf("%w: %s: %s", ErrWide, root, what),
		"work in a folder below, or `orchestrator trust --folder` accepts it")
}

// socketName is the name of a state's socket.
func socketName(id string) string { return id[:16] + ".sock" }

// run is our folder of sockets where there is no other place for them.
func (p Places) run() string { return filepath.Join(p.home(), runName) }

// socket is where the server of a state listens: in the person's folder for sockets, below our home where there is
// none that agents cannot write. Nothing is made.
func (p Places) socket(root, id string) (string, error) {
	run := resolved(filepath.Join(p.Runtime, homeName))
	path := filepath.Join(run, socketName(id))
	usable := filepath.IsAbs(p.Runtime) && isOwn(p.Runtime) && len(path) <= maxSocket
	if !usable || p.temporary(run) != "" || git.Within(run, root) {
		path = filepath.Join(p.run(), socketName(id))
	}
	if len(path) > maxSocket {
		return "", thread.Hint(fmt.Errorf("the socket's path %s is too long for a unix socket", path),
			"set XDG_RUNTIME_DIR to a folder with a shorter path")
	}
	return path, nil
}

// isOwn reports whether a folder is there and belongs to this user: after `su` the variable may still name the
// folder of another one.
func isOwn(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
