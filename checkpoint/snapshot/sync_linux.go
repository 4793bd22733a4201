package snapshot

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// syncAtOnce is how many files are worth one sync of the whole file system instead of one of each.
const syncAtOnce = 32

// syncTree brings everything below a folder to the disk, and all else on its file system.
func syncTree(dir string) error {
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
