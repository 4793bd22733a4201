package pty

import (
	"bytes"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes orphaned descendants children of this process instead of init's.
func adoptOrphans() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // every kernel since 3.4 has it
}

// keepDescriptors closes all but the standard ones in programs that are started from now on. Ours are
// made so; those that we were started with may not be.
func keepDescriptors() {
	const first, last = 3, 1<<32 - 1
	_ = unix.CloseRange(first, last, unix.CLOSE_RANGE_CLOEXEC) // a kernel before 5.11 cannot
}

// proc is a process as /proc shows it.
type proc struct {
	pid, ppid, sid, pgrp int
	start                uint64 // ticks since boot: tells a reused pid
	ended                bool
}

func ownSession() int {
	sid, err := unix.Getsid(0)
	if err != nil {
		return 0
	}
	return sid
}

// readProc reads one process; false when it is gone.
func readProc(pid int) (proc, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return proc{}, false
	}
	// pid (name) state ppid pgrp session … and the start as the 20th after the name, which may hold anything.
	at := bytes.LastIndexByte(b, ')')
	f := strings.Fields(string(b[at+1:]))
	if at < 0 || len(f) < 20 {
		return proc{}, false
	}
	n := func(i int) int { v, _ := strconv.Atoi(f[i]); return v } // the kernel writes numbers
	start, _ := strconv.ParseUint(f[19], 10, 64)
	return proc{pid: pid, ppid: n(1), pgrp: n(2), sid: n(3), start: start, ended: f[0] == "Z" || f[0] == "X"}, true
}

// pids goes through the numbers of all processes.
func pids() iter.Seq[int] {
	return func(yield func(int) bool) {
		dir, err := os.Open("/proc")
		if err != nil {
			return
		}
		defer dir.Close()
		names, _ := dir.Readdirnames(-1) // those that were read will do
		for _, name := range names {
			if pid, err := strconv.Atoi(name); err == nil && !yield(pid) {
				return
			}
		}
	}
}

// allProcs reads every process.
func allProcs() []proc {
	var all []proc
	for pid := range pids() {
		if p, ok := readProc(pid); ok {
			all = append(all, p)
		}
	}
	return all
}

// endedChildren returns this process's children that nobody has waited for yet.
func endedChildren() []proc {
	self := os.Getpid()
	var ended []proc
	for _, pid := range children(self) {
		if p, ok := readProc(pid); ok && p.ended && p.ppid == self {
			ended = append(ended, p)
		}
	}
	return ended
}

// children returns the children of a process, of all its threads.
func children(pid int) []int {
	files, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	var pids []int
	if err == nil && len(files) > 0 {
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				continue // the thread ended
			}
			for _, w := range strings.Fields(string(b)) {
				if n, err := strconv.Atoi(w); err == nil {
					pids = append(pids, n)
				}
			}
		}
		return pids
	}
	for _, p := range allProcs() { // a kernel without the children file
		if p.ppid == pid {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// marked reports whether a process carries one of some environment entries.
func marked(pid int, entries ...string) bool {
	found := false
	environ(pid, func(kv string) bool { found = slices.Contains(entries, kv); return !found })
	return found
}

// environ goes through the environment of a process as it was when the program was started, until see
// returns false. Another user's cannot be read.
func environ(pid int, see func(kv string) bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return
	}
	for pair := range bytes.SplitSeq(b, []byte{0}) {
		if !see(string(pair)) {
			return
		}
	}
}

// remains finds what is left of the process: the program itself and its descendants, members of its
// group or session, carriers of its label or its token, and what was found before (seen: pid to start),
// because a process that is dying shows no environment any more. The program itself is left out once it ended.
func (p *Process) remains(seen map[int]uint64) []proc {
	p.host.scanMu.Lock()
	defer p.host.scanMu.Unlock()
	all := allProcs()
	self := os.Getpid()
	p.host.mu.Lock()
	runs := p.host.running[p.pid] == p
	p.host.mu.Unlock()

	ours := make(map[int]bool, 8)
	entry := tokenName + "=" + p.token
	for _, q := range all {
		start, known := seen[q.pid]
		switch {
		case q.pid == self || q.pid == 1 || q.pid == p.pid && !runs:
		case known && start == q.start,
			q.sid == p.pid, q.pgrp == p.pid, // taken while they have members, so never another's
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
