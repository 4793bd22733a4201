// Package reserve keeps disk space for writes that must succeed when the disk is full.
//
// It is a file that takes up its size in advance. A writer that meets a full disk releases it and tries again; from
// then on optional writes are refused, so that the space is left for the others. Refill takes the space back once there
// is enough of it.
package reserve

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"orchestrator/thread/private"
)

// Reserve is the reserved space. It is safe for concurrent use.
type Reserve struct {
	dir  *private.Folder // the caller's; open while the reserve is used
	name string
	size int

	mu   sync.Mutex
	kept bool
}

// New reserves size bytes on the disk of a folder. Without enough space the reserve starts released.
func New(dir *private.Folder, name string, size int) (*Reserve, error) {
	r := &Reserve{dir: dir, name: name, size: size}
	if info, err := os.Lstat(dir.Path(name)); err == nil && info.Mode().IsRegular() && info.Size() == int64(size) {
		r.kept = true
		return r, nil
	}
	return r, r.Refill()
}

// Kept reports whether the space is reserved.
func (r *Reserve) Kept() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept
}

// Release frees the space for the next writer; false if it was already released.
func (r *Reserve) Release() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.kept {
		return false
	}
	r.kept = false
	return r.dir.Remove(r.name) == nil
}

// Refill reserves the space again if twice its size is free. On a full disk it does nothing.
func (r *Reserve) Refill() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var s syscall.Statfs_t
	if err := syscall.Statfs(r.dir.Path(), &s); err != nil {
		return fmt.Errorf("reserve disk space: %w", err)
	}
	if r.kept || s.Bavail*uint64(s.Bsize) < 2*uint64(r.size) {
		return nil
	}
	if err := r.dir.Remove(r.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reserve disk space: %w", err)
	}
	b := make([]byte, r.size)
	rand.Read(b) // zeros would take no space on a disk that compresses
	switch err := r.dir.Create(r.name, b); {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return nil
	case err != nil:
		return fmt.Errorf("reserve disk space: %w", err)
	}
	r.kept = true
	return nil
}
