package sqlite

import (
	"golang.org/x/sys/unix"
)

// create makes the file with its mode before anybody can open it, and without a descriptor of our own. Where the
// system does not allow it, secure sets the mode a moment later; the folder is closed anyway.
func create(path string) {
	if !exists(path) {
		_ = unix.Mknod(path, unix.S_IFREG|0o600, 0)
	}
}
