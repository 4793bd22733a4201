package pty

import "golang.org/x/sys/unix"

// proc is a process, or with a negative pid a group.
type proc struct {
	pid, ppid, sid, pgrp int
	start                uint64 // microseconds since 1970: detects a reused pid
	ended                bool
}

// zombie is the kernel's state of a process that has not been waited for.
const zombie = 5

// readProc reads one process; false if it is gone.
func readProc(pid int) (proc, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return proc{}, false
	}
	sid, err := unix.Getsid(pid)
	if err != nil {
		sid = 0 // ancestors and group have to suffice
	}
	began := k.Proc.P_starttime
	return proc{
		pid: pid, ppid: int(k.Eproc.Ppid), pgrp: int(k.Eproc.Pgid), sid: sid,
		start: uint64(began.Sec)*1e6 + uint64(began.Usec), ended: k.Proc.P_stat == zombie,
	}, true
}
