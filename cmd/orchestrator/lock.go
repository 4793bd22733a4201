package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// errServed says that another process has the project's lock.
var errServed = errors.New("a server for this project runs already")

// lockServer takes the project's lock for as long as this process lives: one server a project. It
// fails with errServed while another has it.
func lockServer(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the server's lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 32))
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w (process %s)", errServed, strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("lock %s: %w (is the folder on a network drive?)", file, err)
	}
	pid := fmt.Appendf(nil, "%d\n", os.Getpid())
	_, err = f.WriteAt(pid, 0) // over the old one, which has its room on a full disk
	if err = errors.Join(err, f.Truncate(int64(len(pid)))); err != nil {
		f.Close()
		return nil, fmt.Errorf("write the server's lock: %w", err)
	}
	return f, nil
}
