package disk

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// SyncAtOnce is the number of files from which one sync of the whole file system is faster than one per file.
const SyncAtOnce = 32

// SyncTree syncs everything below a folder, and everything else on its file system.
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
