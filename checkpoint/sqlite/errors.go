package sqlite

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

// dbError is an error of the database itself, not the refusal of a request.
type dbError struct{ err error }

func (e *dbError) Error() string { return e.err.Error() }
func (e *dbError) Unwrap() error { return e.err }

// db marks an error as the database's.
func db(err error) error {
	if err == nil {
		return nil
	}
	return &dbError{err}
}

func isDB(err error) bool {
	var e *dbError
	return errors.As(err, &e)
}

// code returns SQLite's code of an error, 0 for others.
func code(err error) sqlite3.ErrNo {
	var e sqlite3.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

func isBusy(err error) bool { return code(err) == sqlite3.ErrBusy || code(err) == sqlite3.ErrLocked }

func isFull(err error) bool { return code(err) == sqlite3.ErrFull }

func isDamage(err error) bool {
	return code(err) == sqlite3.ErrCorrupt || code(err) == sqlite3.ErrNotADB || code(err) == sqlite3.ErrFormat ||
		errors.Is(err, errCheck)
}

// isNoRoom reports a full disk outside of SQLite.
func isNoRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// errCheck is what the database's own check found.
var errCheck = errors.New("database check")

// fullBelow is the free space below which an input or output error counts as a full disk.
const fullBelow = 1 << 20

// translate turns an error of the driver into the domain's. need is the approximate size of the write.
func translate(path string, need int64, err error) error {
	if err == nil || !isDB(err) && code(err) == 0 {
		return err
	}
	dir := filepath.Dir(path)
	free, known := freeSpace(dir)
	switch c := code(err); {
	case c == sqlite3.ErrFull, c == sqlite3.ErrIoErr && known && free < fullBelow:
		need = max(need*2, fullBelow)
		return thread.Hint(fmt.Errorf("store: %w: %d bytes needed, %d free in %s", thread.ErrDiskFull, need, free, dir),
			"free some space; the store then continues on its own")
	case c == sqlite3.ErrReadonly, c == sqlite3.ErrPerm, c == sqlite3.ErrCantOpen && !writable(dir):
		return thread.Hint(fmt.Errorf("store: %w: %s: %w", thread.ErrReadOnly, path, err), "make the folder "+dir+" writable")
	case isBusy(err):
		return thread.Hint(fmt.Errorf("store: %s is locked by another program: %w", path, err),
			"close the other program")
	case isDamage(err):
		return thread.Hint(fmt.Errorf("store: %w: %s: %w", thread.ErrDamaged, path, err), "restart to repair it")
	case errors.Is(err, sql.ErrConnDone):
		return fmt.Errorf("store is closed: %w", err)
	default:
		return fmt.Errorf("store: %w", err)
	}
}

func freeSpace(dir string) (int64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

func writable(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
