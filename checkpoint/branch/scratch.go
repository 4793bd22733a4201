package branch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"orchestrator/checkpoint/flock"
)

// scratchName is the prefix of our folders in the temporary folder.
const scratchName = "orchestrator-trial-"

// scratch is a folder for temporary data. It is in the temporary folder: the repository's own disk may be full. Its
// lock says that it is in use: one left by a killed process is not locked.
type scratch struct {
	dir  string
	lock *os.File
}

func newScratch(temp string) (scratch, error) {
	for {
		dir, err := os.MkdirTemp(temp, scratchName+"*")
		if err != nil {
			return scratch{}, err
		}
		lock, ok := flock.TryLockDir(dir)
		if ok && is(lock, dir) {
			return scratch{dir: dir, lock: lock}, nil
		}
		if ok {
			lock.Close()
		}
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return scratch{dir: dir}, err // no locks there: nobody removes it either
		}
		// another process removed it before it was locked
	}
}

func (s scratch) remove() {
	_ = os.RemoveAll(s.dir)
	if s.lock != nil {
		s.lock.Close()
	}
}

// sweep removes the scratch folders of killed processes.
func sweep(temp string) {
	entries, err := os.ReadDir(temp)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), scratchName) {
			continue
		}
		dir := filepath.Join(temp, e.Name())
		if lock, ok := flock.TryLockDir(dir); ok {
			if is(lock, dir) && ours(lock) {
				_ = os.RemoveAll(dir)
			}
			lock.Close()
		}
	}
}

// is reports whether an open folder is the one at a path.
func is(open *os.File, path string) bool {
	a, aerr := open.Stat()
	b, berr := os.Lstat(path)
	return aerr == nil && berr == nil && os.SameFile(a, b)
}

// ours reports whether a folder looks like one of newScratch: owned by this user, and private.
func ours(open *os.File) bool {
	info, err := open.Stat()
	if err != nil || info.Mode().Perm() != 0o700 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
