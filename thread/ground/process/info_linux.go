package process

import (
	"bytes"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Look reads one process; false if it is gone. Start counts ticks since boot.
func Look(pid int) (Info, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Info{}, false
	}
	// pid (name) state ppid pgrp session … with the start as the 20th and the resident pages as the 22nd after the name,
	// which may contain anything.
	from, at := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	f := strings.Fields(string(b[at+1:]))
	if from < 0 || at < from || len(f) < 22 {
		return Info{}, false
	}
	n := func(i int) int { v, _ := strconv.Atoi(f[i]); return v } // the kernel writes numbers
	start, _ := strconv.ParseUint(f[19], 10, 64)
	pages, _ := strconv.ParseUint(f[21], 10, 64)
	return Info{
		PID: pid, Parent: n(1), Group: n(2), Session: n(3), Start: start, Pages: pages, Ended: f[0] == "Z" || f[0] == "X",
		Name: string(b[from+1 : at]),
	}, true
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

// All reads every process.
func All() []Info {
	var all []Info
	for pid := range pids() {
		if p, ok := Look(pid); ok {
			all = append(all, p)
		}
	}
	return all
}

// Children returns the children of a process, of all its threads.
func Children(pid int) []int {
	files, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	var found []int
	if err == nil && len(files) > 0 {
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				continue // the thread ended
			}
			for _, w := range strings.Fields(string(b)) {
				if n, err := strconv.Atoi(w); err == nil {
					found = append(found, n)
				}
			}
		}
		return found
	}
	for _, p := range All() { // a kernel without the children file
		if p.Parent == pid {
			found = append(found, p.PID)
		}
	}
	return found
}

// Boot tells one start of the machine from another.
func Boot() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
