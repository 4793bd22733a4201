// Package reserve keeps room on a disk for what must not be refused when the disk is full.
//
// It is a file of its own that takes its size in advance. Who meets a full disk releases it and tries again; what can be
// refused is refused from then on, so that the room is left for what cannot. Refill takes the room back once there is
// enough of it.
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

// Reserve is the room. Its methods may be called from many goroutines.
type Reserve struct {
	dir  *private.Folder // the caller's; open as long as the reserve is used
	name string
	size int

	mu   sync.Mutex
	kept bool
}

// New takes size bytes of the disk that a folder lies on. Where there is no room for them the reserve begins released.
func New(dir *private.Folder, name string, size int) (*Reserve, error) {
	r := &Reserve{dir: dir, name: name, size: size}
	if info, err := os.Lstat(dir.Path(name)); err == nil && info.Mode().IsRegular() && info.Size() == int64(size) {
		r.kept = true
		return r, nil
	}
	return r, r.Refill()
}

// Kept reports whether the room is there.
func (r *Reserve) Kept() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept
}

// Release gives the room to whoever writes next; false when it was released before.
func (r *Reserve) Release() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.kept {
		return false
	}
	r.kept = false
	return r.dir.Remove(r.name) == nil
}

// Refill takes the room again where twice of it is free. Nothing happens on a disk that is still full.
func (r *Reserve) Refill() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var s syscall.Statfs_t
	if err := syscall.Statfs(r.dir.Path(), &s); err != nil {
		return fmt.Errorf("keep room on the disk: %w", err)
	}
	if r.kept || s.Bavail*uint64(s.Bsize) < 2*uint64(r.size) {
		return nil
	}
	if err := r.dir.Remove(r.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep room on the disk: %w", err)
	}
	b := make([]byte, r.size)
	rand.Read(b) // zeros would take no room where the disk compresses
	switch err := r.dir.Create(r.name, b); {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return nil
	case err != nil:
		return fmt.Errorf("keep room on the disk: %w", err)
	}
	r.kept = true
	return nil
}
