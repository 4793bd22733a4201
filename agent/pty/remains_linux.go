package pty

import (
	"os"

	"orchestrator/thread/ground/process"
)

// remains finds what is left of the process: the program itself and its descendants, members of its group or session,
// processes with its label or token, and what was found before (seen: pid to start), because a dying process no longer
// has a readable environment. The program itself is left out once it has ended.
func (p *Process) remains(seen map[int]uint64) []process.Info {
	p.table.scanMu.Lock()
	defer p.table.scanMu.Unlock()
	all := process.All()
	self := os.Getpid()
	runs := p.table.holds(p)

	ours := make(map[int]bool, 8)
	entry := tokenName + "=" + p.token
	for _, q := range all {
		start, known := seen[q.PID]
		switch {
		case q.PID == self || q.PID == 1 || q.PID == p.pid && !runs:
		case known && start == q.Start,
			q.Session == p.pid, q.Group == p.pid, // in use while they have members, so never another's
			process.LabelOf(q.PID) == p.label,
			(q.Parent == self || q.Parent == 1) && !q.Ended && process.Marked(q.PID, func(kv string) bool { return kv == entry }): // adopted
			ours[q.PID] = true
		}
	}
	for grew := true; grew; { // their descendants
		grew = false
		for _, q := range all {
			if !ours[q.PID] && ours[q.Parent] {
				ours[q.PID], grew = true, true
			}
		}
	}
	var left []process.Info
	for _, q := range all {
		if ours[q.PID] && !(q.Ended && q.PID == p.pid) { // the Host collects the program itself
			seen[q.PID] = q.Start
			left = append(left, q)
		}
	}
	return left
}
