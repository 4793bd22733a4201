package definition

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"orchestrator/thread/frozen"
)

// FileHasher reads the files that a hash depends on.
type FileHasher struct {
	// Dir is where servers are started: the folder of the project or of a thread. Empty means the first of Roots.
	Dir string
	// Roots are the folders that a repository fills: the one that holds Dir, and others of the same repository.
	Roots []string
	// Writable are further folders in which agents may write.
	Writable []string
	// Lookup knows the person's environment, PATH among it, and what Expand asks for; nil knows nothing.
	Lookup func(name string) (string, bool)
	// Key makes fingerprints of values that nobody can guess the values by.
	Key []byte
	// Sums remembers the hashes of files that have not changed; it may be nil.
	Sums *frozen.Sums
}

func (f FileHasher) lookup(name string) (string, bool) {
	if f.Lookup == nil {
		return "", false
	}
	return f.Lookup(name)
}

// root is the folder of the repository in which servers are started.
func (f FileHasher) root() string {
	if len(f.Roots) == 0 {
		return f.Dir
	}
	return f.Roots[0]
}

// writable are all folders in which agents may write.
func (f FileHasher) writable() []string {
	return slices.Concat(f.Roots, f.Writable, []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"})
}

// located is a path of the repository.
type located struct {
	add  string // what is copied for it: itself, or the first link on the way to it
	root string // the root that it is in, without links
	rel  string // its path in that root
}

// locate finds a path in the roots. Links count: it is in a root if it is there by its name or by what it leads to.
func (f FileHasher) locate(path string) (located, bool) {
	if !filepath.IsAbs(path) {
		return located{}, false
	}
	path = filepath.Clean(path)
	real, err := filepath.EvalSymlinks(path)
	for _, root := range f.Roots {
		realRoot, rootErr := filepath.EvalSymlinks(root)
		if rootErr != nil {
			continue
		}
		for _, from := range []string{root, realRoot} {
			if rel, relErr := filepath.Rel(from, path); relErr == nil && within(from, path) {
				return located{add: firstLink(realRoot, rel), root: realRoot, rel: rel}, true
			}
		}
		if err == nil && within(realRoot, real) {
			rel, _ := filepath.Rel(realRoot, real) // it is within
			return located{add: real, root: realRoot, rel: rel}, true
		}
	}
	return located{}, false
}

// firstLink returns the first link on the way to a path below a folder, or the path if there is none before its end.
func firstLink(root, rel string) string {
	at := root
	parts := strings.Split(rel, string(filepath.Separator))
	for _, part := range parts[:len(parts)-1] {
		at = filepath.Join(at, part)
		if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return at
		}
	}
	return filepath.Join(root, rel)
}

func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// place returns a path in a form that is the same in every worktree.
func (f FileHasher) place(path string) string {
	if filepath.IsAbs(path) {
		for _, root := range f.Roots {
			real, err := filepath.EvalSymlinks(path)
			realRoot, rootErr := filepath.EvalSymlinks(root)
			switch {
			case within(root, path):
			case err == nil && rootErr == nil && within(realRoot, real):
				root, path = realRoot, real
			default:
				continue
			}
			if rel, err := filepath.Rel(root, path); err == nil {
				return "project:" + filepath.ToSlash(rel)
			}
		}
	}
	return path
}

// expanded expands a text as far as that is possible.
func (f FileHasher) expanded(d Definition, s string) string {
	e := d.expansion(f.lookup)
	if out, err := e.expand(s); err == nil {
		return out
	}
	return s
}

// dir is where the process of a definition is started.
func (f FileHasher) dir(d Definition) string {
	start := f.Dir
	if start == "" {
		start = f.root()
	}
	dir := f.expanded(d, d.Dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(start, dir)
	}
	return dir
}

// exists reports what is at a path, through links.
func exists(path string) (folder, file bool) {
	info, err := os.Stat(path)
	if err != nil {
		return false, false
	}
	return info.IsDir(), info.Mode().IsRegular()
}

// maxScanned is the size limit of a file whose text is searched for what it loads.
const maxScanned = 1 << 20

// textOf returns the content of a file if it is a text of moderate size. What it says is only a hint.
func textOf(path string) []byte {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxScanned {
		return nil
	}
	content, err := io.ReadAll(io.LimitReader(file, maxScanned))
	if err != nil || bytes.IndexByte(content, 0) >= 0 {
		return nil
	}
	return content
}

// shebang returns the interpreter of a script, without its path, and that path; empty for a program.
func shebang(path string) (name, interpreter string) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", ""
	}
	defer file.Close()
	line := make([]byte, 512)
	n, _ := io.ReadFull(file, line)
	text, ok := bytes.CutPrefix(line[:n], []byte("#!"))
	if !ok {
		return "", ""
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	words := strings.Fields(string(first))
	if len(words) == 0 {
		return "", ""
	}
	if filepath.Base(words[0]) == "env" {
		for _, w := range words[1:] {
			if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
				return nameOf(w), ""
			}
		}
	}
	return nameOf(words[0]), words[0]
}

// dependencies returns the folder of installed packages that holds a path of a root: node_modules, or a Python
// environment.
func dependencies(root, rel string) (string, bool) {
	parts := strings.Split(filepath.ToSlash(rel), "/")
	if i := slices.Index(parts, "node_modules"); i >= 0 {
		return filepath.Join(parts[:i+1]...), true
	}
	for i := 1; i < len(parts); i++ {
		if at := filepath.Join(parts[:i]...); installs(filepath.Base(at), filepath.Join(root, at)) {
			return at, true
		}
	}
	return "", false
}

// installs reports whether a folder holds what was installed, and not what somebody writes.
func installs(name, path string) bool {
	if name == "node_modules" {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "pyvenv.cfg"))
	return err == nil
}
