package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"orchestrator/checkpoint/flock"
)

// lockFile waits for the lock on a file of ours.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	f, err := flock.Lock(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("lock worktree: %w", err)
	}
	return func() { f.Close() }, nil
}

// short names a folder by its path, for our own folders.
func short(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8])
}
