// Package atomicfile writes files so that others, and a crash, find the old content or the new one.
package atomicfile

import (
	"os"
	"path/filepath"
)

// Write replaces a file, or makes it, for its owner only: completely or not at all, and durably if sync is set. A link in its
// place is replaced, not followed.
func Write(path string, b []byte, sync bool) error {
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
		return SyncDir(filepath.Dir(path))
	}
	return nil
}

// SyncDir makes the names in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
