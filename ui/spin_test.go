package ui

import (
	"testing"
	"time"

	"orchestrator/thread"
)

// TestWorkingMarkMoves: the mark of what works turns four times a second, whatever is selected, and nothing wakes the
// program where nothing works or the list is not on show.
func TestWorkingMarkMoves(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		r.m.tree.Select("docs-f9a0")
		r.wait(100 * time.Millisecond)
		r.must("◐ auth-feature")
		for _, glyph := range []string{"◓", "◑", "◒", "◐"} {
			r.wait(250 * time.Millisecond)
			r.must(glyph + " auth-feature")
		}
		for _, s := range r.srv.threads {
			s.State.State, s.State.Since = thread.StateIdle, time.Now().Add(-90*time.Minute)
			r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
		}
		r.see()
		r.wait(2 * time.Second)
		if d := r.m.tree.Changes(time.Now()); d < 20*time.Minute {
			t.Errorf("ticks in %v while nothing works", d)
		}
	})
	play(t, world(), 60, 20, nil, func(r *rig) {
		stage(r)
		r.m.tree.Select("docs-f9a0")
		r.showMain()
		r.wait(3 * time.Second)
		if r.m.screen.ticking {
			t.Error("ticking while the list is not on show")
		}
	})
}
