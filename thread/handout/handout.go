// Package handout keeps the files that an agent is named, in a folder of its thread's own: all that the
// agent is let read of our state without a question.
//
// A file is whole or not there, for the owner to read only (0400, the folder 0700), and named relative to
// the folder: no link on the way is followed, and nothing outside is written or replaced.
package handout

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder is one thread's folder. The zero value is not usable.
type Folder struct{ dir string }

// At returns the folder at an absolute path; Make or the first Put makes it.
func At(dir string) Folder { return Folder{filepath.Clean(dir)} }

// Dir is the folder's path.
func (f Folder) Dir() string { return f.dir }

// Make makes the folder where it is not there.
func (f Folder) Make() error {
	root, err := f.open()
	if err != nil {
		return err
	}
	return root.Close()
}

// Empty reports whether nothing was put into the folder.
func (f Folder) Empty() bool {
	d, err := os.Open(f.dir)
	if err != nil {
		return true
	}
	defer d.Close()
	_, err = d.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// Put writes a file into the folder, over one of that name, and returns its path.
func (f Folder) Put(name string, data []byte) (string, error) {
	if name == "." || !filepath.IsLocal(name) {
		return "", fmt.Errorf("hand out %q: not a name within a folder", name)
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
	if err := put(root, name, data); err != nil {
		return "", fmt.Errorf("hand out %s: %w", name, err)
	}
	return path, nil
}

// open makes the folder ours alone and opens it.
func (f Folder) open() (*os.Root, error) {
	if !filepath.IsAbs(f.dir) {
		return nil, fmt.Errorf("open the folder %q of what is handed out: it is not absolute", f.dir)
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of what is handed out: %w", err)
	}
	info, err := os.Lstat(f.dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is a link")
	}
	if err == nil && info.Mode().Perm() != 0o700 {
		err = os.Chmod(f.dir, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("open the folder of what is handed out: %w", err)
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder of what is handed out: %w", err)
	}
	return root, nil
}

// same reports whether a file holds the data already, for its owner to read only.
func same(root *os.Root, name string, data []byte) bool {
	info, err := root.Lstat(name)
	if err != nil || info.Mode() != 0o400 || info.Size() != int64(len(data)) {
		return false
	}
	old, err := root.ReadFile(name)
	return err == nil && bytes.Equal(old, data)
}

func put(root *os.Root, name string, data []byte) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	tmp := name + "." + rand.Text() + ".new"
	file, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = root.Rename(tmp, name)
	}
	if err != nil {
		if rerr := root.Remove(tmp); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}
