package process

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes make a program lead a session of its own, and end with the thread that starts it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitEnd waits until a child has ended, without collecting its end: until that is done its pid is not used again. It
// returns false if it could not wait.
func awaitEnd(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

// unreadOf returns how many bytes are in a pipe that nobody has read; 0 if that is not known.
func unreadOf(pipe *os.File) int64 {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return 0
	}
	n := 0
	_ = conn.Control(func(fd uintptr) { // it fails if the pipe is closed
		if n, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ); err != nil {
			n = 0
		}
	})
	return int64(n)
}
