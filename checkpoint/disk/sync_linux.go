package disk

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// SyncAtOnce is how many files are worth one sync of the whole file system instead of one of each.
const SyncAtOnce = 32

// SyncTree brings everything below a folder to the disk, and all else on its file system.
func SyncTree(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync files: %w", err)
	}
	defer d.Close()
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		return fmt.Errorf("sync files: %w", err)
	}
	return nil
}
