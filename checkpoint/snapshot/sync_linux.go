package snapshot

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// syncTree brings everything below a folder to the disk.
func syncTree(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return fmt.Errorf("sync files: %w", err)
	}
	defer d.Close()
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		return fmt.Errorf("sync files: %w", err)
	}
	return nil
}
