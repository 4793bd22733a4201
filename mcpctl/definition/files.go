package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxHashed is the size limit of all files of a command line whose content belongs to a hash.
const maxHashed = 256 << 20

// FileHasher reads the files that a hash depends on.
type FileHasher struct {
	// Roots are the folders that a repository fills: that of the thread or project, which is where servers are started,
	// and others of the same repository.
	Roots []string
	// Lookup knows the person's environment, PATH among it, and what Expand asks for; nil knows nothing.
	Lookup func(name string) (string, bool)
}

// named is a file or folder of the project that a command line names.
type named struct {
	path   string // relative to its root
	sum    string // of its content, hex SHA-256; empty for a folder
	folder bool
}

func (f FileHasher) lookup(name string) (string, bool) {
	if f.Lookup == nil {
		return "", false
	}
	return f.Lookup(name)
}

// root is the folder in which servers are started.
func (f FileHasher) root() string {
	if len(f.Roots) == 0 {
		return ""
	}
	return f.Roots[0]
}

// inside returns the path relative to the root that it is in. Links in it count: it is in a root if it is there by its
// name or by what it leads to.
func (f FileHasher) inside(path string) (string, bool) {
	real, err := resolve(path)
	for _, root := range f.Roots {
		if rel, ok := below(root, path); ok {
			return rel, true
		}
		if realRoot, rootErr := resolve(root); err == nil && rootErr == nil {
			if rel, ok := below(realRoot, real); ok {
				return rel, true
			}
		}
	}
	return "", false
}

// below returns the path relative to a folder that holds it.
func below(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// place returns a path in a form that is the same in every worktree.
func (f FileHasher) place(path string) string {
	if filepath.IsAbs(path) {
		if rel, ok := f.inside(path); ok {
			return "project:" + rel
		}
	}
	return path
}

// expanded expands a text as far as that is possible.
func (f FileHasher) expanded(d Definition, s string) string {
	e := expansion{syntax: d.syntax(), lookup: f.lookup}
	if out, err := e.expand(s); err == nil {
		return out
	}
	return s
}

// dir is where the process of a definition is started.
func (f FileHasher) dir(d Definition) string {
	dir := f.expanded(d, d.Dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(f.root(), dir)
	}
	return dir
}

// lookAll returns what of the paths is a file or folder of the project, each once.
func (f FileHasher) lookAll(paths []string) ([]named, error) {
	var found []named
	seen := map[string]bool{"": true}
	left := int64(maxHashed)
	for _, path := range paths {
		if seen[path] {
			continue
		}
		seen[path] = true
		n, ok, err := f.look(path, &left)
		if err != nil {
			return nil, fmt.Errorf("read what the command line names: %w", err)
		}
		if ok && !slices.Contains(found, n) {
			found = append(found, n)
		}
	}
	return found, nil
}

// look returns what a path is, if it is a file or folder of the project. It takes the size of a file from what is left.
func (f FileHasher) look(path string, left *int64) (named, bool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return named{}, false, nil // there is no such file, or no way to it: it is no name of one
	}
	rel, ok := f.inside(path)
	switch {
	case !ok:
		return named{}, false, nil
	case info.IsDir():
		return named{path: rel, folder: true}, true, nil
	case !info.Mode().IsRegular():
		return named{}, false, nil
	}
	sum, n, err := sumOf(path, *left)
	*left -= n
	return named{path: rel, sum: sum}, err == nil, err
}

// sumOf returns the hash and the size of a regular file of at most limit bytes.
func sumOf(path string, limit int64) (string, int64, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", 0, err
	}
	if !info.Mode().IsRegular() {
		return "", 0, fmt.Errorf("%s: not a regular file", path)
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(file, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("%s: all together more than %d bytes", path, maxHashed)
	}
	return hex.EncodeToString(h.Sum(nil)), n, err
}

// resolve returns a path without links.
func resolve(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", errors.New("not an absolute path")
	}
	return filepath.EvalSymlinks(path)
}
