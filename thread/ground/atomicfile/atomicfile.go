// Package atomicfile writes files so that others, and a crash, find the old content or the new one.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Begin is how the name of a file begins that is being written; 16 hex digits follow.
const Begin = ".new-"

// Write replaces a file, or makes it, for its owner only: completely or not at all, and durably if sync is set. A link in its
// place is replaced, not followed.
func Write(path string, b []byte, sync bool) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	return Below(root, filepath.Base(path), b, 0o600, sync)
}

// Below does what Write does for a file below an open folder. It gets all of these permissions, whatever the umask.
func Below(root *os.Root, name string, b []byte, perm fs.FileMode, sync bool) error {
	return put(root, name, b, perm, sync, root.Rename)
}

// New is Below for a file that must not exist: otherwise the error is fs.ErrExist.
func New(root *os.Root, name string, b []byte, perm fs.FileMode, sync bool) error {
	return put(root, name, b, perm, sync, root.Link)
}

func put(root *os.Root, name string, b []byte, perm fs.FileMode, sync bool, place func(temp, name string) error) error {
	var random [8]byte
	rand.Read(random[:]) // never fails
	dir := filepath.Dir(name)
	temp := filepath.Join(dir, fmt.Sprintf("%s%x", Begin, random))
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	defer root.Remove(temp) // a leftover; already gone after a rename
	if _, err = f.Write(b); err == nil {
		err = f.Chmod(perm)
	}
	if err == nil && sync {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = place(temp, name)
	}
	if err != nil || !sync {
		return err
	}
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return syncNames(d)
}

// SyncDir makes the names in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return syncNames(d)
}

// syncNames syncs a folder, on file systems that know such a thing.
func syncNames(dir *os.File) error {
	if err := dir.Sync(); !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
