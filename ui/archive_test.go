package ui

import (
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
)

// rested is a world with an archived thread that no list has.
func rested() *server {
	w := world()
	w.archive = []thread.Status{{
		Thread: thread.Thread{ID: "rested", Name: "long-ago-0c0c", Label: "long ago", Agent: "demo", Archived: time.Unix(1e9, 0), Turn: 2},
		State:  thread.StateReport{State: thread.StateExited},
	}}
	return w
}

// hides holds that a text is not on the screen.
func (r *rig) hides(text string) {
	r.t.Helper()
	if see := r.see(); strings.Contains(see, text) {
		r.t.Errorf("%q is shown:\n%s", text, see)
	}
}

// TestArchiveIsAskedFor: the archive shows what the list of threads does not have.
func TestArchiveIsAskedFor(t *testing.T) {
	on(t, rested(), func(r *rig) {
		r.hides("long ago")
		r.keys(". z")
		r.must("long ago", "old-one")
		r.keys(". z")
		r.hides("long ago")
	})
}

// TestVisitArchived goes to a hit of the search in a thread that the list of threads does not have, and to one in a
// thread that is gone.
func TestVisitArchived(t *testing.T) {
	w := rested()
	w.hits = []thread.Hit{{Thread: "rested", Name: "long-ago-0c0c", Checkpoint: "c1", Turn: 1, Where: "answer", Snippet: "it was so"}}
	on(t, w, func(r *rig) {
		r.keys("ctrl+f")
		r.text("so")
		r.must("it was so")
		r.keys("enter")
		if s := r.m.tree.Selected(); s == nil || s.ID != "rested" {
			t.Errorf("%v is selected", s)
		}
	})
	w = rested()
	w.hits = []thread.Hit{{Thread: "purged", Name: "gone-0d0d", Checkpoint: "c1", Turn: 1, Where: "answer", Snippet: "it was so"}}
	on(t, w, func(r *rig) {
		r.keys("ctrl+f")
		r.text("so")
		r.must("it was so")
		r.keys("enter")
		r.must("no longer exists")
	})
}
