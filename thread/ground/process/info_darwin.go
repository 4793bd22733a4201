package process

import "golang.org/x/sys/unix"

// zombie is the kernel's state of a process that has not been waited for.
const zombie = 5

// Look reads one process; false if it is gone. Start counts microseconds since 1970.
func Look(pid int) (Info, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return Info{}, false
	}
	sid, err := unix.Getsid(pid)
	if err != nil {
		sid = 0 // ancestors and group have to suffice
	}
	began := k.Proc.P_starttime
	return Info{
		PID: pid, Parent: int(k.Eproc.Ppid), Group: int(k.Eproc.Pgid), Session: sid,
		Start: uint64(began.Sec)*1e6 + uint64(began.Usec), Ended: k.Proc.P_stat == zombie,
	}, true
}
