package tree

import (
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/share"
)

// Sharing returns the names of the threads that work on the same files as a thread, oldest first.
func (t *Tree) Sharing(one thread.Thread) []string {
	var names []string
	for _, s := range t.sharers(one) {
		names = append(names, s.TypedName())
	}
	return names
}

// sharers returns those threads.
func (t *Tree) sharers(one thread.Thread) []*thread.Status {
	if !one.InUse() {
		return nil
	}
	if t.folders == nil {
		t.working = t.working[:0]
		places := make([]share.Place, 0, len(t.threads))
		for _, s := range t.All() {
			if s.InUse() {
				t.working = append(t.working, s)
				places = append(places, share.Place{Dir: s.Dir, Worktree: s.Worktree.Path})
			}
		}
		t.folders = share.NewIndex(t.project, places)
	}
	var with []*thread.Status
	for _, i := range slices.Sorted(slices.Values(t.folders.With(share.Place{Dir: one.Dir, Worktree: one.Worktree.Path}))) {
		if s := t.working[i]; s.ID != one.ID {
			with = append(with, s)
		}
	}
	return with
}
