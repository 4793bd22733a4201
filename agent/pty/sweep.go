package pty

import (
	"context"
	"os"
	"slices"
	"time"

	"orchestrator/thread/ground/process"
)

// Sweep ends processes that an earlier, killed Host left behind: those with one of the environment entries KEY=VALUE or
// the label of a Process with this Owner. They get SIGTERM, and SIGKILL after the grace. It spares this process and its
// ancestors. It returns how many there were, when they are gone or ctx ends. It finds them on Linux only.
func Sweep(ctx context.Context, owners []string, grace time.Duration) int {
	if len(owners) == 0 {
		return 0
	}
	spared := map[int]bool{1: true}
	for pid := os.Getpid(); pid > 1 && !spared[pid]; {
		spared[pid] = true
		p, _ := process.Look(pid)
		pid = p.Parent
	}
	found, _ := process.End(ctx, grace, process.Kin(func(p process.Info) bool {
		label := process.LabelOf(p.PID)
		return !spared[p.PID] && (slices.ContainsFunc(owners, label.Owner) ||
			process.Marked(p.PID, func(kv string) bool { return slices.Contains(owners, kv) }))
	}))
	return found
}
