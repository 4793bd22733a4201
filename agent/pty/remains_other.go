//go:build !linux

package pty

import "golang.org/x/sys/unix"

// remains returns whether the group has members.
func (p *Process) remains(map[int]uint64) []proc {
	if unix.Kill(-p.pid, 0) != nil {
		return nil
	}
	return []proc{{pid: -p.pid}}
}
