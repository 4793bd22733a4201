package sqlite

import (
	"golang.org/x/sys/unix"
)

// create creates the file with its mode before anybody can open it, and without a descriptor of our own. If the system
// does not allow it, secure sets the mode a moment later; the folder is private anyway.
func create(path string) {
	if !exists(path) {
		_ = unix.Mknod(path, unix.S_IFREG|0o600, 0)
	}
}
