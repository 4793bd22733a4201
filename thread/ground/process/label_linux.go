package process

import (
	"crypto/rand"
	"errors"
	"hash/fnv"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// labelResource is what has the label: the hard limit of file locks, which Linux keeps for every process and has not
	// enforced since 2.4. Without privileges it can only be lowered, which no program does by accident.
	labelResource = unix.RLIMIT_LOCKS
	labelMagic    = 0x4
	ownerBits     = 36
	runBits       = 24
)

// ownerOf returns the part of a label that identifies the owner.
func ownerOf(entry string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(entry)) // never fails
	sum := h.Sum64()
	return (sum ^ sum>>ownerBits) & (1<<ownerBits - 1)
}

// NewLabel returns the label for one run of an owner, which differs from those of its other runs: a copied project may
// run the same threads at the same time.
func NewLabel(owner string) Label {
	var b [runBits / 8]byte
	rand.Read(b[:]) // never fails
	run := uint64(b[0])<<16 | uint64(b[1])<<8 | uint64(b[2])
	return Label(labelMagic<<(ownerBits+runBits) | ownerOf(owner)<<runBits | run)
}

// isLabel distinguishes a label from a limit.
func isLabel(n uint64) bool { return n>>(ownerBits+runBits) == labelMagic }

// Owner reports whether the label belongs to a run of an owner.
func (l Label) Owner(owner string) bool {
	return isLabel(uint64(l)) && uint64(l)>>runBits&(1<<ownerBits-1) == ownerOf(owner)
}

// LabelOf returns the label of a process, 0 if it has none.
func LabelOf(pid int) Label {
	var limit unix.Rlimit
	if unix.Prlimit(pid, labelResource, nil, &limit) != nil || !isLabel(limit.Max) {
		return 0 // gone, or another user's
	}
	return Label(limit.Max)
}

// Labelled returns the pids of the processes with each label.
func Labelled() map[Label][]int {
	all := make(map[Label][]int)
	for pid := range pids() {
		if label := LabelOf(pid); label != 0 {
			all[label] = append(all[label], pid)
		}
	}
	return all
}

// StartLabelled starts a program that has a label from its first instruction on: ptrace stops it at the end of its exec
// until it is labelled. Where ptrace is not allowed, and for programs that run as another user, which ptrace would
// prevent, the label is set a moment later.
func StartLabelled(path string, argv []string, attr *os.ProcAttr, label Label) (*os.Process, error) {
	runtime.LockOSThread() // only the thread that started a process with ptrace can detach from it
	defer runtime.UnlockOSThread()
	if info, err := os.Stat(path); err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) == 0 {
		held, sys := *attr, *attr.Sys
		sys.Ptrace = true
		held.Sys = &sys
		if p, err := os.StartProcess(path, argv, &held); err == nil {
			awaitStop(p.Pid)
			attach(p.Pid, label)
			_ = unix.PtraceDetach(p.Pid) // it has already ended, or continues
			return p, nil
		}
	}
	p, err := os.StartProcess(path, argv, attr) // its error describes what is wrong with the program itself
	if err != nil {
		return nil, err
	}
	attach(p.Pid, label)
	return p, nil
}

// stopLimit is how long to wait for a program to stop at the end of its exec. It usually has when we begin to wait.
const stopLimit = 2 * time.Second

// awaitStop waits until a process that was started with ptrace has stopped or ended. It leaves the end to be
// collected.
func awaitStop(pid int) {
	pause := 20 * time.Microsecond
	for begin := time.Now(); time.Since(begin) < stopLimit; pause = min(2*pause, time.Millisecond) {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
		if err == nil && info.Signo != 0 || err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		time.Sleep(pause)
	}
}

// attach labels a process and what it has already started. If that is refused, ancestry and environment have to
// suffice.
func attach(pid int, label Label) {
	if unix.Prlimit(pid, labelResource, &unix.Rlimit{Cur: uint64(label), Max: uint64(label)}, nil) != nil {
		return
	}
	for _, child := range Children(pid) { // they follow their parents, so none is left out
		if LabelOf(child) != label {
			attach(child, label)
		}
	}
}
