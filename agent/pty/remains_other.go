//go:build !linux

package pty

import (
	"golang.org/x/sys/unix"

	"orchestrator/thread/ground/process"
)

// remains returns whether the group has members.
func (p *Process) remains(map[int]uint64) []process.Info {
	if unix.Kill(-p.pid, 0) != nil {
		return nil
	}
	return []process.Info{{PID: -p.pid}}
}
