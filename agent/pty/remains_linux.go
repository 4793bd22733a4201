package pty

import "os"

// remains finds what is left of the process: the program itself and its descendants, members of its group or session,
// processes with its label or token, and what was found before (seen: pid to start), because a dying process no longer
// has a readable environment. The program itself is left out once it has ended.
func (p *Process) remains(seen map[int]uint64) []proc {
	p.table.scanMu.Lock()
	defer p.table.scanMu.Unlock()
	all := allProcs()
	self := os.Getpid()
	runs := p.table.holds(p)

	ours := make(map[int]bool, 8)
	entry := tokenName + "=" + p.token
	for _, q := range all {
		start, known := seen[q.pid]
		switch {
		case q.pid == self || q.pid == 1 || q.pid == p.pid && !runs:
		case known && start == q.start,
			q.sid == p.pid, q.pgrp == p.pid, // in use while they have members, so never another's
			labelled(q.pid) == p.label,
			(q.ppid == self || q.ppid == 1) && !q.ended && marked(q.pid, entry): // adopted
			ours[q.pid] = true
		}
	}
	for grew := true; grew; { // their descendants
		grew = false
		for _, q := range all {
			if !ours[q.pid] && ours[q.ppid] {
				ours[q.pid], grew = true, true
			}
		}
	}
	var left []proc
	for _, q := range all {
		if ours[q.pid] && !(q.ended && q.pid == p.pid) { // the Host collects the program itself
			seen[q.pid] = q.start
			left = append(left, q)
		}
	}
	return left
}
