package pty

import (
	"context"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"orchestrator/thread/ground/process"
)

// Sweep ends processes that an earlier, killed Host left behind: those with one of the environment entries KEY=VALUE or
// the label of a Process with this Owner. They get SIGTERM, and SIGKILL after the grace. It spares this process and its
// ancestors. It returns how many there were, when they are gone or ctx ends.
func Sweep(ctx context.Context, entries []string, grace time.Duration) int {
	if len(entries) == 0 {
		return 0
	}
	spared := map[int]bool{1: true}
	for pid := os.Getpid(); pid > 1 && !spared[pid]; {
		spared[pid] = true
		p, ok := process.Look(pid)
		if !ok {
			break
		}
		pid = p.Parent
	}
	begin, wait := time.Now(), time.Millisecond
	found := make(map[int]uint64) // pid to start
	for {
		n := 0
		for _, p := range process.All() {
			if spared[p.PID] || p.Ended || !left(p.PID, entries) {
				continue
			}
			n++
			if start, asked := found[p.PID]; !asked || start != p.Start {
				found[p.PID] = p.Start
				_ = unix.Kill(p.PID, unix.SIGTERM) // it may already be gone
				_ = unix.Kill(p.PID, unix.SIGCONT)
			} else if time.Since(begin) >= grace {
				_ = unix.Kill(p.PID, unix.SIGKILL)
			}
		}
		if n == 0 || time.Since(begin) > grace+killWait {
			return len(found)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return len(found)
		}
		wait = min(2*wait, 50*time.Millisecond)
	}
}

// left reports whether a process belongs to one of the owners.
func left(pid int, owners []string) bool {
	label := process.LabelOf(pid)
	if label != 0 && slices.ContainsFunc(owners, func(o string) bool { return label.Owner(o) }) {
		return true
	}
	return process.Marked(pid, owners...)
}
