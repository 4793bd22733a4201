package replica

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"orchestrator/thread"
)

// Alias is the program's second name on the agents' PATH, unless another program has that name.
const Alias = "max"

// KeepIn keeps a copy of the running program in the first of some folders that is writable and allows programs to run,
// for when its file is deleted, replaced or moved.
func KeepIn(folders []string) (*Replica, error) {
	self, err := Self()
	if err != nil {
		return nil, err
	}
	defer self.Close()
	var errs []error
	for _, dir := range folders {
		kept, err := Keep(dir, self)
		if err == nil {
			return kept, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("copy this program: %w", errors.Join(errs...))
}

// Stable is the program that the server, hooks and agents use, and the folder to put on the agents' PATH.
type Stable struct {
	// Path is the copy, or the program's own file if it could not be copied.
	Path string
	// Bin is the folder with the program under all of its names.
	Bin string
	// Build identifies the build; empty if unknown.
	Build string
	// Problem is why the program could not be copied.
	Problem string
	// Unswept names the old copy that could not be removed. It is only logged, because it does no harm.
	Unswept error
	held    *Replica
}

// Close releases the copy.
func (s *Stable) Close() {
	if s.held != nil {
		s.held.Close()
	}
}

// OpenStable keeps a copy for a server in one of some folders, removes copies there that are no longer used, and fills
// the folder bin for the agents' PATH, which is the search path so far.
func OpenStable(folders []string, bin, search string) (*Stable, error) {
	s := &Stable{Bin: bin, Build: This()}
	kept, err := KeepIn(folders)
	if err == nil {
		s.held, s.Path = kept, kept.Path
		for _, dir := range folders {
			if _, err := Sweep(dir); err != nil && !errors.Is(err, fs.ErrPermission) && s.Unswept == nil {
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
	if err := layOut(bin, s.Path, search); err != nil {
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
	names := map[string]bool{Name: true, Alias: !onPath(Alias, search)}
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

// onPath reports whether a program is on a search path.
func onPath(name, search string) bool {
	for _, dir := range filepath.SplitList(search) {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(dir) {
			return true
		}
	}
	return false
}

// This identifies the build of the running program; empty if unknown.
func This() string {
	self, err := Self()
	if err != nil {
		return ""
	}
	defer self.Close()
	id, err := Build(self)
	if err != nil {
		return ""
	}
	return id
}
