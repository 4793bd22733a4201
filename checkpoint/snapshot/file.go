package snapshot

import (
	"bytes"
	"os"
	"path/filepath"
)

// smallFile is the most bytes that a small file of ours or of git's may have.
const smallFile = 64 << 10

// writeFile writes a file of ours whole or not at all.
func writeFile(path string, b []byte, sync bool) error {
	f, err := os.CreateTemp(filepath.Dir(path), "new-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil && sync {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	if sync {
		return syncDir(filepath.Dir(path))
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

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

// realParent resolves the links in the folder that path is in, so that git and we call it the same.
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

// nothing reports whether a file holds no byte that says anything.
func nothing(b []byte) bool { return len(bytes.Trim(b, "\x00 \r\n\t")) == 0 }
