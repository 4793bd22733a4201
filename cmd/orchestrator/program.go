package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/replica"
	"orchestrator/thread"
)

// alias is the program's second name on the agents' PATH, unless another program has that name.
const alias = "max"

// programFolders returns where to keep a copy of this program, best first. Folders that are not writable or do not
// allow programs to run are skipped.
func (c *cli) programFolders() []string {
	folders := []string{filepath.Join(c.stateHome(), "orchestrator", "bin")}
	home := lookup(c.environ, "HOME")
	for _, place := range []struct{ variable, fallback string }{
		{"XDG_CACHE_HOME", ".cache"}, {"XDG_DATA_HOME", ".local/share"},
	} {
		dir := lookup(c.environ, place.variable)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(home, place.fallback)
		}
		if filepath.IsAbs(dir) {
			folders = append(folders, filepath.Join(dir, "orchestrator", "bin"))
		}
	}
	return folders
}

// keepProgram keeps a copy of the running program, for when its file is deleted, replaced or moved.
func (c *cli) keepProgram() (*replica.Replica, error) {
	self, err := replica.Self()
	if err != nil {
		return nil, err
	}
	defer self.Close()
	var errs []error
	for _, dir := range c.programFolders() {
		kept, err := replica.Keep(dir, self)
		if err == nil {
			return kept, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("copy this program: %w", errors.Join(errs...))
}

// stable is the program that the server, hooks and agents use, and the folder to put on the agents' PATH.
type stable struct {
	// Path is the copy, or the program's own file if it could not be copied.
	Path string
	// Bin is the folder with the program under all of its names.
	Bin string
	// Build identifies the build; empty if unknown.
	Build string
	// Problem says why the program could not be copied.
	Problem string
	// Unswept says which old copy could not be removed. It is only logged, because it does no harm.
	Unswept error
	held    *replica.Replica
}

// Close releases the copy.
func (s *stable) Close() {
	if s.held != nil {
		s.held.Close()
	}
}

// openStable keeps a copy for a server, removes copies that are no longer used, and fills the folder bin for the
// agents' PATH.
func (c *cli) openStable(bin string) (*stable, error) {
	s := &stable{Bin: bin, Build: build()}
	kept, err := c.keepProgram()
	if err == nil {
		s.held, s.Path = kept, kept.Path
		for _, dir := range c.programFolders() {
			if _, err := replica.Sweep(dir); err != nil && !errors.Is(err, fs.ErrPermission) && s.Unswept == nil {
				s.Unswept = thread.Hint(err, "it only takes up space: remove it by hand while no server runs")
			}
		}
	} else {
		exe, xerr := os.Executable()
		if xerr != nil {
			return nil, errors.Join(err, fmt.Errorf("find this program: %w", xerr))
		}
		s.Path = exe
		s.Problem = fmt.Sprintf("the server runs from %s, which must not be moved or deleted: %v", exe, err)
	}
	if err := layOut(bin, s.Path, lookup(c.environ, "PATH")); err != nil {
		s.Close()
		return nil, fmt.Errorf("set up the programs for agents: %w", err)
	}
	return s, nil
}

// layOut puts the program into bin under its names, and removes anything else of ours.
func layOut(bin, path, search string) error {
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return err
	}
	names := map[string]bool{replica.Name: true, alias: !found(alias, search)}
	for name, wanted := range names {
		link := filepath.Join(bin, name)
		if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if wanted {
			if err := os.Symlink(path, link); err != nil {
				return err
			}
		}
	}
	return nil
}

// found reports whether a program is on a search path.
func found(name, search string) bool {
	for _, dir := range filepath.SplitList(search) {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(dir) {
			return true
		}
	}
	return false
}

// build identifies this program's build; empty if unknown.
func build() string {
	self, err := replica.Self()
	if err != nil {
		return ""
	}
	defer self.Close()
	id, err := replica.Build(self)
	if err != nil {
		return ""
	}
	return id
}

// isOther reports whether a server runs another build than this program.
func isOther(info api.ServerInfo) bool {
	mine := build()
	return mine != "" && info.Build != "" && mine != info.Build
}

// otherBuild returns a notice if a server runs another build.
func otherBuild(info api.ServerInfo) string {
	if !isOther(info) {
		return ""
	}
	return "the server runs another build than this program (" + info.Version + "); " +
		"`orchestrator restart` replaces it and resumes its agents"
}
