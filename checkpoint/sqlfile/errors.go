// Package sqlfile is what the stores in SQLite files share: how a file is made, kept private, connected to and left, and
// what SQLite's errors mean. It knows no tables.
package sqlfile

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/mattn/go-sqlite3"
	"golang.org/x/sys/unix"

	"orchestrator/thread"
)

// Code returns SQLite's code of an error, 0 for others.
func Code(err error) sqlite3.ErrNo {
	var e sqlite3.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// IsBusy reports another program's lock.
func IsBusy(err error) bool { return Code(err) == sqlite3.ErrBusy || Code(err) == sqlite3.ErrLocked }

// IsFull reports a full disk, as SQLite does.
func IsFull(err error) bool { return Code(err) == sqlite3.ErrFull }

// IsDamage reports that the file is not what a database is.
func IsDamage(err error) bool {
	return Code(err) == sqlite3.ErrCorrupt || Code(err) == sqlite3.ErrNotADB || Code(err) == sqlite3.ErrFormat ||
		errors.Is(err, ErrCheck)
}

// IsNoRoom reports a full disk outside of SQLite.
func IsNoRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// ErrCheck is what the database's own check found.
var ErrCheck = errors.New("database check")

// FullBelow is the free space below which an input or output error counts as a full disk.
const FullBelow = 1 << 20

// Translate turns an error of the driver into the domain's. need is the approximate size of the write.
func Translate(path string, need int64, err error) error {
	if err == nil {
		return nil
	}
	dir := filepath.Dir(path)
	free, known := FreeSpace(dir)
	switch c := Code(err); {
	case c == sqlite3.ErrFull, c == sqlite3.ErrIoErr && known && free < FullBelow:
		need = max(need*2, FullBelow)
		return thread.Hint(fmt.Errorf("store: %w: %d bytes needed, %d free in %s", thread.ErrDiskFull, need, free, dir),
			"free some space; the store then continues on its own")
	case c == sqlite3.ErrReadonly, c == sqlite3.ErrPerm, c == sqlite3.ErrCantOpen && !Writable(dir):
		return thread.Hint(fmt.Errorf("store: %w: %s: %w", thread.ErrReadOnly, path, err), "make the folder "+dir+" writable")
	case IsBusy(err):
		return thread.Hint(fmt.Errorf("store: %s is locked by another program: %w", path, err),
			"close the other program")
	case IsDamage(err):
		return thread.Hint(fmt.Errorf("store: %w: %s: %w", thread.ErrDamaged, path, err), "restart to repair it")
	case errors.Is(err, sql.ErrConnDone):
		return fmt.Errorf("store is closed: %w", err)
	default:
		return fmt.Errorf("store: %w", err)
	}
}

// FreeSpace returns how many bytes can be written in a folder, false if that is not known.
func FreeSpace(dir string) (int64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

// Writable reports whether files can be made in a folder.
func Writable(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }

// Exists reports whether there is something at a path.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
