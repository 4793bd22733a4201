// Package replica keeps a copy of the running program for as long as anything needs it.
//
// The server, the hooks of agents and the demo agent outlive the file that was started: `go run` deletes it, an upgrade
// replaces it, or the user moves it. So they run from a copy, which is named by the hash of its content, is complete
// and synced before it gets its name, and is removed when nothing holds it any more. Package atomicfile does not write
// it, because what a killed process left of a file as large as this must be known by its name, and be removed.
package replica

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Name is the program's name, in a copy's folder and on the agents' PATH.
const Name = "orchestrator"

// lockName is the file in a copy's folder that its users lock.
const lockName = "lock"

// ErrNoExec means that a folder's file system is mounted noexec, so that programs cannot be started from it.
var ErrNoExec = errors.New("programs cannot be started from there (noexec)")

// errOtherContent means that a file's content is not the one whose hash names the copy.
var errOtherContent = errors.New("its content has changed")

// Replica is a copy of this program. It exists until Close; the next Sweep removes copies that nobody holds.
type Replica struct {
	// Path is the program's path.
	Path string
	lock *os.File
}

// Close releases the copy.
func (c *Replica) Close() { c.lock.Close() }

// Self opens the running program's file, even if it has been deleted.
func Self() (*os.File, error) {
	path := "/proc/self/exe"
	if runtime.GOOS != "linux" {
		var err error
		if path, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find this program: %w", err)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open this program: %w", err)
	}
	return f, nil
}

// Keep returns the copy of a program in dir and holds it. It creates the copy if it is missing or damaged, and dir with
// mode 0700. Files whose content it has read before, and which have not changed since, are not read again. After
// ErrNoExec the caller must try another folder.
func Keep(dir string, self *os.File) (*Replica, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the program's folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the program's folder: %w", err)
	}
	defer root.Close()
	sums := readKnown(root)
	c, err := keep(root, dir, self, sums)
	if errors.Is(err, errOtherContent) { // what was remembered is wrong, or the file is being replaced
		sums = &known{}
		c, err = keep(root, dir, self, sums)
	}
	if err != nil {
		return nil, err
	}
	_ = sums.store(root) // without it the next start reads the files again
	return c, nil
}

func keep(root *os.Root, dir string, self *os.File, sums *known) (*Replica, error) {
	sum, err := sums.hash(self)
	if err != nil {
		return nil, fmt.Errorf("read this program: %w", err)
	}
	name := sum[:16]
	lock, err := hold(root, name)
	if err != nil {
		return nil, err
	}
	c := &Replica{Path: filepath.Join(dir, name, Name), lock: lock}
	if err := c.fill(root, name, self, sum, sums); err != nil {
		lock.Close()
		return nil, err
	}
	return c, nil
}

// fill writes the copy if it is not complete, and checks that it can be started.
func (c *Replica) fill(root *os.Root, name string, self *os.File, sum string, sums *known) error {
	file := filepath.Join(name, Name)
	if have, err := openRegular(root, file); err == nil {
		there, err := sums.hash(have)
		have.Close()
		if err == nil && there == sum {
			return executable(c.Path)
		}
	}
	if err := write(root, file, self, sum, sums); err != nil {
		return fmt.Errorf("copy this program to %s: %w", c.Path, err)
	}
	return executable(c.Path)
}

// write copies self to file, which gets its name once it is complete, has the hash sum and is synced.
func write(root *os.Root, file string, self *os.File, sum string, sums *known) error {
	if err := dropUnfinished(root, filepath.Dir(file)); err != nil {
		return err
	}
	temp := file + "." + fmt.Sprint(os.Getpid())
	f, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	info, err := self.Stat()
	h := sha256.New()
	if err == nil {
		_, err = io.Copy(io.MultiWriter(f, h), io.NewSectionReader(self, 0, info.Size()))
	}
	if err == nil && hex.EncodeToString(h.Sum(nil)) != sum {
		err = errOtherContent
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = root.Rename(temp, file)
	}
	if err == nil {
		sums.written(f, sum)
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return errors.Join(err, ignoreMissing(root.Remove(temp)))
	}
	return syncFolder(root, filepath.Dir(file))
}

// dropUnfinished removes partial copies left by this process or by processes that no longer exist.
func dropUnfinished(root *os.Root, dir string) error {
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), Name+".")
		pid, err := strconv.Atoi(number)
		if !ok || err != nil || pid != os.Getpid() && !errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			continue
		}
		if err := ignoreMissing(root.Remove(filepath.Join(dir, e.Name()))); err != nil {
			return err
		}
	}
	return nil
}

func syncFolder(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// hold creates a copy's folder and takes a shared lock in it. If a Sweep removes the folder meanwhile, it creates it
// again.
func hold(root *os.Root, name string) (*os.File, error) {
	for {
		if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("create the program's folder: %w", err)
		}
		file := filepath.Join(name, lockName)
		f, err := root.OpenFile(file, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("lock the program's copy: %w", err)
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_SH); err != nil {
			f.Close()
			return nil, fmt.Errorf("lock the program's copy: %w", err)
		}
		if isThere(root, file, f) {
			return f, nil
		}
		f.Close()
	}
}

// isThere reports whether a name still refers to an open file.
func isThere(root *os.Root, file string, f *os.File) bool {
	open, oerr := f.Stat()
	named, nerr := root.Lstat(file)
	return oerr == nil && nerr == nil && os.SameFile(open, named)
}

// Sweep removes the copies in dir that nobody holds, and returns how many. It continues after a copy that cannot be
// removed; the error names the first of those.
func Sweep(dir string) (int, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("remove old copies of this program: %w", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return 0, fmt.Errorf("remove old copies of this program: %w", err)
	}
	var first error
	n, failed := 0, 0
	for _, e := range entries {
		if !isCopy(e) {
			continue
		}
		gone, err := sweep(root, e.Name())
		if gone {
			n++
		}
		if err == nil {
			continue
		}
		if failed++; first == nil {
			first = fmt.Errorf("remove the old copy %s of this program: %w", filepath.Join(dir, e.Name()), err)
		}
	}
	if failed > 1 {
		first = fmt.Errorf("%w (and %d more)", first, failed-1)
	}
	return n, first
}

// isCopy reports whether an entry is a folder with the name of a copy.
func isCopy(e fs.DirEntry) bool {
	raw, err := hex.DecodeString(e.Name())
	return err == nil && len(raw) == 8 && e.IsDir()
}

// sweep removes one copy unless it is held. It removes the lock last, so that a partially removed folder is swept
// again. After that another process may create the copy again; then the folder stays.
func sweep(root *os.Root, name string) (gone bool, err error) {
	file := filepath.Join(name, lockName)
	lock, err := root.OpenFile(file, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return false, ignoreMissing(err)
	}
	defer lock.Close()
	if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil || !isThere(root, file, lock) {
		return false, nil
	}
	dir, err := root.Open(name)
	if err != nil {
		return false, err
	}
	names, err := dir.Readdirnames(-1)
	dir.Close()
	if err != nil {
		return false, err
	}
	for _, n := range names {
		if n == lockName {
			continue
		}
		if err := root.Remove(filepath.Join(name, n)); err != nil {
			return false, err
		}
	}
	if err := root.Remove(file); err != nil {
		return false, err
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, unix.ENOTEMPTY) {
		return true, ignoreMissing(err)
	}
	return true, nil
}

// executable asks the kernel whether a program may be started: access(2) checks modes and noexec mounts.
func executable(path string) error {
	err := unix.Access(path, unix.X_OK)
	if errors.Is(err, unix.EACCES) {
		return fmt.Errorf("%s: %w", filepath.Dir(filepath.Dir(path)), ErrNoExec)
	}
	if err != nil {
		return fmt.Errorf("check the program's copy %s: %w", path, err)
	}
	return nil
}
