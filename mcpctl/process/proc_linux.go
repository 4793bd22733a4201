package process

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// proc is a process as /proc shows it.
type proc struct {
	pid, pgrp int
	start     uint64 // ticks since boot: detects a reused pid
	pages     uint64 // resident
	ended     bool
}

// readProc reads one process; false if it is gone.
func readProc(pid int) (proc, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return proc{}, false
	}
	// pid (name) state ppid pgrp … with the start as the 20th and the resident pages as the 22nd after the name, which
	// may contain anything.
	at := bytes.LastIndexByte(b, ')')
	f := strings.Fields(string(b[at+1:]))
	if at < 0 || len(f) < 22 {
		return proc{}, false
	}
	pgrp, _ := strconv.Atoi(f[2]) // the kernel writes numbers
	start, _ := strconv.ParseUint(f[19], 10, 64)
	pages, _ := strconv.ParseUint(f[21], 10, 64)
	return proc{pid: pid, pgrp: pgrp, start: start, pages: pages, ended: f[0] == "Z" || f[0] == "X"}, true
}

// allProcs reads every process.
func allProcs() []proc {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // those that were read are enough
	var all []proc
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := readProc(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// marks reports whether a mark is among the environment of a process, as it was when its program was started.
func marks(pid int, is func(entry string) bool) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(b, []byte{0}) {
		if is(string(entry)) {
			return true
		}
	}
	return false
}

// bootID tells one start of the machine from another.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

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
