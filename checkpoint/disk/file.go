package disk

import (
	"os"
	"path/filepath"

	"orchestrator/thread/private"
)

// smallFile is the maximum size of a small file of ours or of git's.
const smallFile = 64 << 10

// ReadSmall reads a small file as private.ReadRegular does.
func ReadSmall(path string) ([]byte, error) { return private.ReadRegular(path, smallFile) }

// Write writes a file of ours completely or not at all, and durably if sync is set.
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
