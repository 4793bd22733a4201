package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	// maxHashed is the size limit of a file whose content belongs to a hash.
	maxHashed = 256 << 20
	// maxWords is how many words of a command line may be names of files.
	maxWords = 10_000
)

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

// named returns the files and folders of the project that the command line of a definition names.
func (f FileHasher) named(d Definition) ([]named, error) {
	if len(f.Roots) == 0 {
		return nil, nil
	}
	var found []named
	add := func(path string) error {
		n, ok, err := f.look(path)
		if ok {
			found = append(found, n)
		}
		return err
	}
	words, dir := 0, f.dir(d)
	for _, part := range append([]string{d.Command, d.Helper}, d.Args...) {
		for _, word := range wordsOf(f.expanded(d, part)) {
			if words++; words > maxWords {
				return nil, fmt.Errorf("a command line of more than %d words", maxWords)
			}
			paths := f.candidates(word, dir)
			if runsPackages(d.Command) {
				paths = append(paths, f.installed(word, dir)...)
			}
			for _, path := range paths {
				if err := add(path); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, command := range []string{d.Command, first(d.Helper)} {
		if path := f.onPath(d, f.expanded(d, command), dir); path != "" {
			if err := add(path); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

func first(command string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return word
}

// runsPackages reports whether a command prefers what a project has installed.
func runsPackages(command string) bool {
	switch filepath.Base(command) {
	case "npx", "pnpx", "bunx", "npm", "pnpm", "yarn", "bun":
		return true
	}
	return false
}

// installed returns where a project has a package, or a program of one, of this name.
func (f FileHasher) installed(word, dir string) []string {
	name := word
	if at := strings.LastIndex(word, "@"); at > 0 {
		name = word[:at]
	}
	if name == "" || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "/") || strings.Contains(name, "..") {
		return nil
	}
	var paths []string
	for _, base := range []string{dir, f.root()} {
		modules := filepath.Join(base, "node_modules")
		paths = append(paths, filepath.Join(modules, ".bin", filepath.Base(name)), filepath.Join(modules, name, "package.json"))
		if dir == f.root() {
			break
		}
	}
	return paths
}

// wordsOf returns an argument, and the pieces of it that may be paths: "--config=x", "sh -c 'x && y'", "a:b".
func wordsOf(arg string) []string {
	pieces := strings.FieldsFunc(arg, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("=,:;&|()<>\"'`", r)
	})
	if len(pieces) == 1 && pieces[0] == arg {
		return pieces
	}
	return append([]string{arg}, pieces...)
}

// candidates returns where a word may lead.
func (f FileHasher) candidates(word, dir string) []string {
	if rest, ok := strings.CutPrefix(word, "~/"); ok {
		home, _ := f.lookup("HOME")
		return []string{filepath.Join(home, rest)}
	}
	switch {
	case word == "" || len(word) > 4096 || strings.ContainsRune(word, 0):
		return nil
	case filepath.IsAbs(word):
		return []string{filepath.Clean(word)}
	case dir == f.root():
		return []string{filepath.Join(dir, word)}
	}
	return []string{filepath.Join(dir, word), filepath.Join(f.root(), word)}
}

// onPath returns what a bare command is, or nothing.
func (f FileHasher) onPath(d Definition, command, dir string) string {
	if command == "" || strings.Contains(command, "/") {
		return ""
	}
	path, ok := d.Env["PATH"]
	if ok {
		path = f.expanded(d, path)
	} else {
		path, _ = f.lookup("PATH")
	}
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		if file := filepath.Join(folder, command); executable(file) {
			return file
		}
	}
	return ""
}

// look returns what a path is, if it is a file or folder of the project.
func (f FileHasher) look(path string) (named, bool, error) {
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
	sum, err := sumOf(path)
	if err != nil {
		return named{}, false, fmt.Errorf("read what the command line names: %w", err)
	}
	return named{path: rel, sum: sum}, true, nil
}

// sumOf returns the hash of a file's content.
func sumOf(path string) (string, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: not a regular file", path)
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(file, maxHashed+1))
	if err == nil && n > maxHashed {
		err = fmt.Errorf("%s: more than %d bytes", path, maxHashed)
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// resolve returns a path without links.
func resolve(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", errors.New("not an absolute path")
	}
	return filepath.EvalSymlinks(path)
}
