package setup

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"

	"orchestrator/thread/accept"
	"orchestrator/thread/frozen"
)

// copyNamed copies the files of a worktree that the commands name, and returns the folder and their names. Beside them
// it has links to the worktree's other files, which they may use without that being accepted.
func (s *Setup) copyNamed(l lines, dir string) (folder string, names []string, err error) {
	store, err := s.copies()
	if err != nil {
		return "", nil, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", nil, err
	}
	c := frozen.NewCollector(real, nil, nil)
	words := accept.Names(l.list, dir)
	for _, name := range words {
		at, err := filepath.EvalSymlinks(filepath.Join(real, name))
		if err != nil {
			continue // it is not a file
		}
		if rel, ok := c.Rel(at); !ok || rel == "" {
			continue
		}
		info, err := os.Lstat(at)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if err := c.AddAs(at, name); err != nil {
			return "", nil, err
		}
		names = append(names, name)
	}
	for _, name := range names {
		for at := path.Dir(name); ; at = path.Dir(at) {
			if err := s.beside(c, dir, at, words); err != nil {
				return "", nil, err
			}
			if at == "." {
				break
			}
		}
	}
	folder, err = store.Keep(c.Entries())
	return folder, names, err
}

// beside links what else is in a folder of the worktree, but nothing that the commands name.
func (s *Setup) beside(c *frozen.Collector, dir, rel string, words []string) error {
	list, err := os.ReadDir(filepath.Join(dir, rel))
	if err != nil {
		return err
	}
	for _, e := range list {
		name := path.Join(rel, e.Name())
		if c.Holds(name) || slices.Contains(words, name) {
			continue
		}
		if err := c.Link(name, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// findsItself reports whether a script looks for files by its own place.
func findsItself(text []byte) bool {
	for _, word := range []string{"$0", "${0", "BASH_SOURCE", "__file__", "__dirname", "import.meta"} {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}
