// Package attachment stores the files that an agent is given to read, in a folder of its thread. It is the only part of
// our state that the agent may read without asking.
//
// A file is either complete or absent, readable by its owner only (0400, the folder 0700), and named relative to the
// folder. Symbolic links are not followed, and nothing outside the folder is written or replaced.
package attachment

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"orchestrator/thread/ground/atomicfile"
)

// Folder holds the attachments of one thread. The zero value is not usable.
type Folder struct{ dir string }

// At returns the folder at an absolute path; Make or the first Put creates it.
func At(dir string) Folder { return Folder{filepath.Clean(dir)} }

// Dir is the folder's path.
func (f Folder) Dir() string { return f.dir }

// Make creates the folder if it is missing.
func (f Folder) Make() error {
	root, err := f.open()
	if err != nil {
		return err
	}
	return root.Close()
}

// There reports whether there is such a folder.
func (f Folder) There() bool {
	info, err := os.Lstat(f.dir)
	return err == nil && info.IsDir()
}

// Empty reports whether the folder has no files.
func (f Folder) Empty() bool {
	d, err := os.Open(f.dir)
	if err != nil {
		return true
	}
	defer d.Close()
	_, err = d.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// Put writes a file, replacing one of the same name, and returns its path.
func (f Folder) Put(name string, data []byte) (string, error) {
	if name == "." || !filepath.IsLocal(name) {
		return "", fmt.Errorf("attach %q: not a local file name", name)
	}
	root, err := f.open()
	if err != nil {
		return "", err
	}
	defer root.Close()
	path := filepath.Join(f.dir, name)
	if same(root, name, data) {
		return path, nil
	}
	err = root.MkdirAll(filepath.Dir(name), 0o700)
	if err == nil {
		err = atomicfile.Below(root, name, data, 0o400, true)
	}
	if err != nil {
		return "", fmt.Errorf("attach %s: %w", name, err)
	}
	return path, nil
}

// Link makes a file of ours, on the same disk, a file here too, without copying it, and returns its path. It may be read
// only from then on, wherever it is.
func (f Folder) Link(name, file string) (string, error) {
	if name == "." || !filepath.IsLocal(name) {
		return "", fmt.Errorf("attach %q: not a local file name", name)
	}
	root, err := f.open()
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := link(root, f.dir, name, file); err != nil {
		return "", fmt.Errorf("attach %s: %w", name, err)
	}
	return filepath.Join(f.dir, name), nil
}

// link links a file into the folder itself first, as a name below it could lead elsewhere.
func link(root *os.Root, dir, name, file string) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	tmp := rand.Text() + ".new"
	if err := os.Link(file, filepath.Join(dir, tmp)); err != nil {
		return err
	}
	err := root.Chmod(tmp, 0o400)
	if err == nil {
		err = root.Rename(tmp, name)
	}
	if rerr := root.Remove(tmp); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	return err
}

// open creates the folder for its owner only and opens it.
func (f Folder) open() (*os.Root, error) {
	if !filepath.IsAbs(f.dir) {
		return nil, fmt.Errorf("open attachments folder %q: not an absolute path", f.dir)
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, fmt.Errorf("create attachments folder: %w", err)
	}
	info, err := os.Lstat(f.dir)
	if err == nil && !info.IsDir() {
		err = errors.New("is a symbolic link")
	}
	if err == nil && info.Mode().Perm() != 0o700 {
		err = os.Chmod(f.dir, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("open attachments folder: %w", err)
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, fmt.Errorf("open attachments folder: %w", err)
	}
	return root, nil
}

// same reports whether a file already holds the data and has the right mode.
func same(root *os.Root, name string, data []byte) bool {
	info, err := root.Lstat(name)
	if err != nil || info.Mode() != 0o400 || info.Size() != int64(len(data)) {
		return false
	}
	old, err := root.ReadFile(name)
	return err == nil && bytes.Equal(old, data)
}
