package pty

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"orchestrator/thread/ground/process"
)

// adoptOrphans makes orphaned descendants children of this process instead of init's.
func adoptOrphans() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // every kernel since 3.4 has it
}

// keepDescriptors marks all descriptors except the standard ones as close-on-exec. Ours are opened that way; those that
// we were started with may not be.
func keepDescriptors() {
	const first, last = 3, 1<<32 - 1
	_ = unix.CloseRange(first, last, unix.CLOSE_RANGE_CLOEXEC) // a kernel before 5.11 cannot
}

// ownSession returns the session of this process, 0 if it is not known.
func ownSession() int {
	sid, err := unix.Getsid(0)
	if err != nil {
		return 0
	}
	return sid
}

// anyEnded reports whether a child has ended that nobody has waited for yet.
func anyEnded() bool {
	var of unix.Siginfo
	for {
		switch err := unix.Waitid(unix.P_ALL, 0, &of, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil); {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ECHILD):
			return false
		default:
			return err != nil || of.Signo != 0 // one that cannot be asked may
		}
	}
}

// endedChildren returns this process's children that nobody has waited for yet.
func endedChildren() []process.Info {
	self := os.Getpid()
	var ended []process.Info
	for _, pid := range process.Children(self) {
		if p, ok := process.Look(pid); ok && p.Ended && p.Parent == self {
			ended = append(ended, p)
		}
	}
	return ended
}
