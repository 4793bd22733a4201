//go:build !linux

package pty

import "golang.org/x/sys/unix"

// adoptOrphans does nothing: only Linux has subreapers.
func adoptOrphans() {}

// keepDescriptors does nothing: our own descriptors are made close-on-exec.
func keepDescriptors() {}

// proc is a process, or with a negative pid a group.
type proc struct {
	pid, sid int
	ended    bool
}

func ownSession() int { return 0 }

func endedChildren() []proc { return nil }

// remains tells whether the group has members.
func (p *Process) remains(map[int]uint64) []proc {
	if unix.Kill(-p.pid, 0) != nil {
		return nil
	}
	return []proc{{pid: -p.pid}}
}
