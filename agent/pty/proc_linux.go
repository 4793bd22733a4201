package pty

import (
	"bytes"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// proc is a process as /proc shows it.
type proc struct {
	pid, ppid, sid, pgrp int
	start                uint64 // ticks since boot: detects a reused pid
	ended                bool
}

// readProc reads one process; false if it is gone.
func readProc(pid int) (proc, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return proc{}, false
	}
	// pid (name) state ppid pgrp session … and the start as the 20th after the name, which may contain anything.
	at := bytes.LastIndexByte(b, ')')
	f := strings.Fields(string(b[at+1:]))
	if at < 0 || len(f) < 20 {
		return proc{}, false
	}
	n := func(i int) int { v, _ := strconv.Atoi(f[i]); return v } // the kernel writes numbers
	start, _ := strconv.ParseUint(f[19], 10, 64)
	return proc{pid: pid, ppid: n(1), pgrp: n(2), sid: n(3), start: start, ended: f[0] == "Z" || f[0] == "X"}, true
}

// pids iterates over the pids of all processes.
func pids() iter.Seq[int] {
	return func(yield func(int) bool) {
		dir, err := os.Open("/proc")
		if err != nil {
			return
		}
		defer dir.Close()
		names, _ := dir.Readdirnames(-1) // those that were read are enough
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
