package project

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

const (
	lockName = "server.lock"
	homeLock = "projects.lock"
)

// ErrServed means that another process has the project's lock.
var ErrServed = errors.New("a server for this project is already running")

// Lock takes the project's lock for as long as this process lives: one server a state. It fails with ErrServed while
// another has it.
func (p Project) Lock() (*os.File, error) {
	folder, err := p.Folder()
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	f, err := folder.File(lockName, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, hint(fmt.Errorf("open the server's lock: %w", err))
	}
	if err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder := holderOf(f)
		f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, err
		}
		if holder == 0 {
			return nil, ErrServed
		}
		return nil, fmt.Errorf("%w (process %d)", ErrServed, holder)
	}
	pid := fmt.Appendf(nil, "%d\n", os.Getpid())
	_, err = f.WriteAt(pid, 0) // over the old one, which has its room on a full disk
	if err = errors.Join(err, f.Truncate(int64(len(pid)))); err != nil {
		f.Close()
		return nil, hint(fmt.Errorf("write the server's lock: %w", &private.Error{Path: folder.Path(lockName), Err: err}))
	}
	_ = folder.Remove(socketRecord) // of a server before; what cannot be removed is named when ours is written
	return f, nil
}

// flock locks a file. Its error says what to do about a file system that cannot lock.
func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		default:
			return thread.Hint(fmt.Errorf("lock %s: %w", f.Name(), err),
				"its file system cannot lock files, as some network drives cannot: set XDG_STATE_HOME to a folder on a local disk")
		}
	}
}

// holderOf reads the number of the process that wrote a lock, 0 where there is none in it.
func holderOf(f *os.File) int {
	content, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil || pid <= 1 {
		return 0
	}
	return pid
}

// Holder returns the process that has the project's lock, 0 where nobody has it.
func (p Project) Holder() (int, error) {
	folder, err := p.Folder()
	if err != nil {
		return 0, err
	}
	defer folder.Close()
	pid, held := heldBy(folder)
	if held && pid == 0 {
		return 0, fmt.Errorf("%s names no process", folder.Path(lockName))
	}
	return pid, nil
}

// serving reports whether a server runs for a state.
func serving(home *private.Folder, name string) (pid int, runs bool) {
	folder, err := home.Open(name)
	if err != nil {
		return 0, false
	}
	defer folder.Close()
	return heldBy(folder)
}

func heldBy(folder *private.Folder) (pid int, held bool) {
	f, err := folder.File(lockName, os.O_RDWR)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err == nil {
		return 0, false
	}
	return holderOf(f), true
}

// lockHome keeps others from changing which project has which state; it waits for them.
func lockHome(home *private.Folder) (*os.File, error) {
	f, err := home.File(homeLock, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, hint(fmt.Errorf("lock the state folder: %w", err))
	}
	if err := flock(f, syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
