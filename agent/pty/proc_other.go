//go:build !linux

package pty

import (
	"os"

	"golang.org/x/sys/unix"
)

// adoptOrphans does nothing: only Linux has subreapers.
func adoptOrphans() {}

// keepDescriptors does nothing: our own descriptors are made close-on-exec.
func keepDescriptors() {}

func ownSession() int { return 0 }

func endedChildren() []proc { return nil }

// remains tells whether the group has members.
func (p *Process) remains(map[int]uint64) []proc {
	if unix.Kill(-p.pid, 0) != nil {
		return nil
	}
	return []proc{{pid: -p.pid}}
}

// newLabel returns no label: only Linux has a limit that nobody needs.
func newLabel(string) uint64 { return 0 }

// labelled finds no label.
func labelled(int) uint64 { return 0 }

// startLabelled starts a program; there are no labels.
func startLabelled(path string, argv []string, attr *os.ProcAttr, _ uint64) (*os.Process, error) {
	return os.StartProcess(path, argv, attr)
}

// environ sees nothing: environments of other processes can be read on Linux only.
func environ(int, func(string) bool) {}

// Counts counts nothing: only Linux tells what belongs to a Process.
func (h *Host) Counts() map[*Process]int { return nil }
