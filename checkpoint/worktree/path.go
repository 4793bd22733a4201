package worktree

import (
	"bytes"
	"os"
	"path/filepath"
)

// resolved follows the links in a path as far as it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}

// realParent resolves the links in the folder of a path, so that git and we use the same name for it.
func realParent(path string) (string, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// nothing reports whether a file has no meaningful content.
func nothing(b []byte) bool { return len(bytes.Trim(b, "\x00 \r\n\t")) == 0 }
