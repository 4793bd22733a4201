package git

import (
	"slices"
	"sync"

	"orchestrator/thread/ground/process"
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

// programsIn names what runs in process groups besides git itself, without doubles; nothing where the system does not tell.
func programsIn(groups ...int) []string {
	if len(groups) == 0 {
		return nil
	}
	var names []string
	for _, p := range process.All() {
		name := Printable(p.Name)
		if name != "git" && slices.Contains(groups, p.Group) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
