// Package flock locks files between processes. A lock lasts until every process that has the file open has closed it or
// ended, in any way: a child that inherits the file holds the lock too.
package flock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Lock waits for the exclusive lock on a file, which is created if it is missing. Closing the file releases the lock.
func Lock(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	return wait(ctx, f)
}

// LockDir waits for the exclusive lock on an existing folder, or on the one that a link leads to.
func LockDir(ctx context.Context, path string) (*os.File, error) {
	dir, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	return wait(ctx, dir)
}

// wait waits for the lock on an open file, and closes that if there is none.
func wait(ctx context.Context, f *os.File) (*os.File, error) {
	wait := time.NewTimer(0)
	defer wait.Stop()
	for delay := time.Millisecond; ; delay = min(delay*2, 20*time.Millisecond) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		wait.Reset(delay)
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", f.Name(), ctx.Err())
		case <-wait.C:
		}
	}
}

// TryLock locks an existing file, not a link to one, unless it is already locked.
func TryLock(path string) (f *os.File, ok bool) {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, false
	}
	return f, true
}

// TryLockDir locks an existing folder, not a link to one, unless it is already locked.
func TryLockDir(path string) (dir *os.File, ok bool) {
	dir, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, false
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		dir.Close()
		return nil, false
	}
	return dir, true
}
