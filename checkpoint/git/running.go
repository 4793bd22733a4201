package git

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// running are the gits that run.
type running struct {
	mu     sync.Mutex
	groups map[int]bool // by process group
}

// add counts a process group in; the result counts it out.
func (r *running) add(group int) (ended func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.groups == nil {
		r.groups = map[int]bool{}
	}
	r.groups[group] = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.groups, group)
	}
}

// maxName is more than the name of a program in the table of processes takes.
const maxName = 64

// programsIn names what runs in process groups besides git itself, without doubles; nothing where the system does not tell.
func programsIn(groups ...int) []string {
	entries, err := os.ReadDir("/proc")
	if err != nil || len(groups) == 0 {
		return nil
	}
	var names []string
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		b, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		// pid (name) state ppid pgrp …: a name may hold anything, also brackets.
		text := string(b)
		from, to := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
		if from < 0 || to < from {
			continue
		}
		fields := strings.Fields(text[to+1:])
		if len(fields) < 3 {
			continue
		}
		group, err := strconv.Atoi(fields[2])
		name := Printable(text[from+1 : min(to, from+1+maxName)])
		if err == nil && name != "git" && slices.Contains(groups, group) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
