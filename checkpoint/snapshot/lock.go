package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// flock takes an exclusive lock on a file, which is made when it is missing. The lock ends with the process.
func flock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock worktree: %w", err)
	}
	wait := time.NewTimer(0)
	defer wait.Stop()
	for delay := time.Millisecond; ; delay = min(delay*2, 20*time.Millisecond) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock worktree: %w", err)
		}
		wait.Reset(delay)
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("lock worktree: %w", ctx.Err())
		case <-wait.C:
		}
	}
}

// tryFlock takes the lock if nobody has it.
func tryFlock(path string) (unlock func(), ok bool) {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, false
	}
	return func() { f.Close() }, true
}

// short names a folder by its path, for our own folders.
func short(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8])
}
