package sqlfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"orchestrator/thread"
)

// Create creates the file with its mode before anybody can open it, and without a descriptor of our own. If the system
// does not allow it, Secure sets the mode a moment later; the folder is private anyway.
func Create(path string) {
	if !Exists(path) {
		_ = unix.Mknod(path, unix.S_IFREG|0o600, 0)
	}
}

// Prepare creates the folder of a database and refuses files that somebody else could have planted; hint says what to do
// about something that is not a file.
func Prepare(path, hint string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			return thread.Hint(fmt.Errorf("%w: %w", thread.ErrReadOnly, err), "make its folder writable")
		}
		return err
	}
	for _, p := range []string{dir, path, path + "-wal", path + "-shm"} {
		info, err := os.Lstat(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
			return thread.Hint(thread.Kindf(thread.ErrInvalid, "%s belongs to user %d", p, st.Uid),
				"run as that user, or move it away")
		}
		if (p == dir) != info.IsDir() || (p != dir && !info.Mode().IsRegular()) {
			return thread.Hint(thread.Kindf(thread.ErrInvalid, "%s is not a file (%s)", p, info.Mode().Type()),
				hint)
		}
	}
	if !Writable(dir) {
		return thread.Hint(fmt.Errorf("%w: %s", thread.ErrReadOnly, dir), "make the folder writable")
	}
	if err := os.Chmod(dir, 0o700); err != nil && !errors.Is(err, syscall.EROFS) {
		return err
	}
	return nil
}

// Secure makes the files private. SQLite gives -wal and -shm the mode of the file itself.
func Secure(path string) error {
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Chmod(p, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
