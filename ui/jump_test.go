package ui

import (
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/views"
)

// TestPeek: space shows the last answer without entering the thread and without its counting as read.
func TestPeek(t *testing.T) {
	srv := world()
	srv.threads[4].State.State, srv.threads[4].Seen = thread.StateDone, false // docs
	on(t, srv, func(r *rig) {
		r.must("peek")
		r.keys("space")
		r.must("┌ auth-feature ─", "working", "Edit auth.go", "answer of turn", "enter open  space close")
		r.keys("j")
		r.wait(3 * time.Second)
		r.keys("k", "home")
		r.wait(3 * time.Second)
		r.must("┌ try-jwt ─", "needs approval", "rm -rf build; make", "1  Yes")
		r.keys("a", "x", "1", "f")
		r.wait(time.Second)
		if len(harmed(r.srv.calls)) > 0 || r.srv.asked("answer") || r.srv.asked("seen") {
			t.Errorf("it did something: %q", r.srv.calls)
		}
		for range 6 {
			r.keys("j")
			r.wait(2 * time.Second)
		}
		if r.srv.asked("seen") {
			t.Error("a thread that was peeked at is read")
		}
		r.keys("space")
		if s := r.m.tree.Selected(); r.m.dialogs.Open() || s.ID != "auth-feature-a3f2" {
			t.Errorf("%s is selected afterwards, a dialog is open: %v", s.ID, r.m.dialogs.Open())
		}
		r.keys("space", "j", "enter")
		if s := r.m.tree.Selected(); r.m.dialogs.Open() || s.ID == "auth-feature-a3f2" {
			t.Errorf("enter leads to %s, a dialog is open: %v", s.ID, r.m.dialogs.Open())
		}
	})
}

// TestBackAndForward: places that were looked at for a while are come back to, with their view and turn.
func TestBackAndForward(t *testing.T) {
	on(t, world(), func(r *rig) {
		at := func(id thread.ID, v views.View, reading bool) {
			t.Helper()
			r.wait(2 * time.Second)
			if s := r.m.tree.Selected(); s.ID != id || r.m.views.Now() != v || (r.m.views.Reading() != "") != reading {
				t.Errorf("%s, %s, reading %q; want %s, %s", s.ID, r.m.views.Now(), r.m.views.Reading(), id, v)
			}
		}
		at("auth-feature-a3f2", views.Terminal, false)
		r.keys("alt+left")
		r.must("No place was looked at before")
		r.keys("T", "enter")
		at("auth-feature-a3f2", views.Timeline, true)
		r.keys("ctrl+q", "ctrl+q", "end", "D")
		at("spike-0b1c", views.Diff, false)
		r.keys("ctrl+q", "k", "k") // only passed
		r.keys("end")
		at("spike-0b1c", views.Diff, false)
		r.keys("alt+left")
		at("auth-feature-a3f2", views.Timeline, true)
		r.keys("alt+left")
		at("auth-feature-a3f2", views.Terminal, false)
		r.keys("alt+left")
		r.must("No place was looked at before")
		r.keys("alt+right", "alt+right")
		at("spike-0b1c", views.Diff, false)
		r.keys("alt+right")
		r.must("No place to go forward to")
		r.keys("alt+left")
		r.event(thread.Event{Kind: thread.EventRemoved, ThreadID: "spike-0b1c"})
		r.keys("alt+right")
		at("auth-feature-a3f2", views.Timeline, true)
		if see := r.see(); strings.Contains(see, "spike-0b1c ") {
			t.Errorf("a thread that is gone is shown:\n%s", see)
		}
	})
}

// TestGo: a colon goes to threads, turns and rooms, completes and remembers.
func TestGo(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys(":")
		r.must("go to", "timeline     turns of the thread", "tab complete")
		r.text("docs")
		r.keys("enter")
		if s := r.m.tree.Selected(); s.ID != "docs-f9a0" {
			t.Errorf("%s is selected", s.ID)
		}
		r.wait(time.Second)
		r.keys(":")
		r.text("dif\r")
		if r.m.views.Now() != views.Diff {
			t.Errorf("the view is %s", r.m.views.Now())
		}
		r.keys(":")
		r.text("term\r")
		if r.m.views.Now() != views.Terminal || r.pane.focus {
			t.Errorf("the view is %s, its agent has the keys: %v", r.m.views.Now(), r.pane.focus)
		}
		r.keys(":")
		r.text("tur")
		r.keys("tab")
		r.must("› turn", "turn 3", "turn 1")
		r.text("3")
		r.must("turn 3")
		r.keys("enter")
		if _, _, n := r.m.views.At(); n != 3 || r.m.views.Now() != views.Timeline || r.m.views.Reading() == "" {
			t.Errorf("turn %d of %s", n, r.m.views.Now())
		}
		r.keys(":")
		r.text("2\r")
		if _, _, n := r.m.views.At(); n != 2 {
			t.Errorf("turn %d", n)
		}
		r.keys(":", "up", "up")
		r.must("› turn 3")
		r.keys("up")
		r.must("› terminal")
		r.keys("down", "down", "enter")
		if _, _, n := r.m.views.At(); n != 2 {
			t.Errorf("turn %d", n)
		}
		r.keys(":")
		r.text("zzzz")
		r.must("No matches")
		r.keys("enter", "esc")
		if r.m.dialogs.Open() {
			t.Error("esc leaves it open")
		}
		for word, shows := range map[string]string{"mcp": "MCP servers", "money": "money", "events": "events", "inbox": "inbox", "agents": "agents", "keys": "everywhere"} {
			r.keys(":")
			r.text(word + "\r")
			r.wait(time.Second)
			r.must(shows)
			r.keys("esc")
		}
		r.keys(":")
		r.text("merge\r") // at once: it only shows the menu
		r.must("merge into its parent", "finish: merge")
		r.keys("esc", ":")
		r.text("archive\r")
		r.must("old-one")
	})
}

// TestGoToFile: the turn that changed a file is found by its name.
func TestGoToFile(t *testing.T) {
	srv := world()
	srv.hits = []thread.Hit{
		{Thread: "docs-f9a0", Name: "docs-f9a0", Checkpoint: "cp2", Turn: 2, Where: "changed", Snippet: "docs/auth.md"},
		{Thread: "auth-feature-a3f2", Name: "auth-feature-a3f2", Checkpoint: "cp3", Turn: 3, Where: "changed", Snippet: "internal/auth.go"},
	}
	on(t, srv, func(r *rig) {
		r.keys(":")
		r.text("file auth")
		r.must("internal/auth.go", "auth-feature, turn 3", "docs/auth.md", "docs, turn 2")
		r.keys("enter") // the selected thread's is first
		if id, _, n := r.m.views.At(); id != "auth-feature-a3f2" || n != 3 || r.m.views.Reading() == "" {
			t.Errorf("turn %d of %s", n, id)
		}
		r.keys("ctrl+f")
		r.text("auth.md")
		r.must("docs/auth.md", "changed, turn 2")
		r.keys("enter")
		if id, _, n := r.m.views.At(); id != "docs-f9a0" || n != 2 || r.m.views.Reading() == "" {
			t.Errorf("turn %d of %s", n, id)
		}
	})
}

// TestGoDoesNothing: no text behind a colon stops, merges, removes, publishes or begins anything.
func TestGoDoesNothing(t *testing.T) {
	for _, word := range []string{
		"merge", "stop", "stop-now", "delete", "archive-now", "push", "finish it", "new", "fork", "prompt", "send", "quit", "undo", "restart",
		"resume", "resume-all", "abandon", "collect", "pin", "mask-all", "rename", "export", "import", "grants", "yes", "always",
	} {
		for _, pause := range []time.Duration{20 * time.Millisecond, 150 * time.Millisecond, 390 * time.Millisecond, 800 * time.Millisecond} {
			on(t, world(), func(r *rig) {
				for _, c := range "fact: " + word + "\rdo it now\ryes\r" {
					r.text(string(c))
					r.wait(pause)
				}
				r.wait(time.Second)
				if did := harmed(r.srv.calls); len(did) > 0 || r.quit && pause < 800*time.Millisecond {
					t.Errorf("%q at %s: %q, it quits: %v", word, pause, did, r.quit)
				}
			})
			on(t, world(), func(r *rig) {
				r.text(":")
				r.wait(pause)
				for _, c := range word + "\r" {
					r.text(string(c))
					r.wait(pause)
				}
				r.wait(time.Second)
				if did := harmed(r.srv.calls); len(did) > 0 || r.quit {
					t.Errorf("%q at %s: %q, it quits: %v", word, pause, did, r.quit)
				}
			})
		}
	}
}
