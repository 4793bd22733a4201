package follow_test

import (
	"testing"

	"orchestrator/thread"
	"orchestrator/ui/follow"

	"pgregory.net/rapid"
)

// at brings a follower into a state, with thread a attached where one is.
func at(t *testing.T, s follow.State) *follow.Follower {
	t.Helper()
	f := &follow.Follower{}
	if s != follow.Empty {
		step(f, follow.Selection{ID: "a", Run: "1"})
		f.Rest()
		step(f, follow.Selection{ID: "a", Run: "1"})
	}
	switch s {
	case follow.Moving:
		step(f, follow.Selection{ID: "b", Run: "2"})
	case follow.Passing:
		step(f, follow.Selection{ID: "b", Run: "2"})
		step(f, follow.Selection{ID: "a", Run: "1"})
	default:
	}
	if f.State() != s {
		t.Fatalf("is %v, not %v", f.State(), s)
	}
	return f
}

// step is what the interface does after each message, without a timer that ends.
func step(f *follow.Follower, sel follow.Selection) (thread.ID, bool) {
	f.Select(sel.ID)
	return f.Attach(sel)
}

func TestTransitions(t *testing.T) {
	rest := func(sel follow.Selection) func(*follow.Follower) (thread.ID, bool) {
		return func(f *follow.Follower) (thread.ID, bool) {
			f.Select(sel.ID)
			f.Rest()
			return f.Attach(sel)
		}
	}
	moves := func(sel follow.Selection) func(*follow.Follower) (thread.ID, bool) {
		return func(f *follow.Follower) (thread.ID, bool) { return step(f, sel) }
	}
	forget := func(f *follow.Follower) (thread.ID, bool) {
		f.Reattach()
		return f.Attach(follow.Selection{ID: "a", Run: "1"})
	}
	a, again, stopped := follow.Selection{ID: "a", Run: "1"}, follow.Selection{ID: "a", Run: "9"}, follow.Selection{ID: "a"}
	b, idle, none := follow.Selection{ID: "b", Run: "2"}, follow.Selection{ID: "b"}, follow.Selection{}
	for _, c := range []struct {
		name  string
		from  follow.State
		do    func(*follow.Follower) (thread.ID, bool)
		to    follow.State
		shows thread.ID
		tells bool
	}{
		{"the selection moves to a thread that runs", follow.Empty, moves(b), follow.Empty, "", false},
		{"it rests on a thread that runs", follow.Empty, rest(b), follow.Resting, "b", true},
		{"it rests on a thread that does not run", follow.Empty, rest(idle), follow.Empty, "", false},
		{"nothing is selected", follow.Empty, moves(none), follow.Empty, "", false},

		{"the selection leaves", follow.Resting, moves(b), follow.Moving, "a", false},
		{"it leaves and rests", follow.Resting, rest(b), follow.Resting, "b", true},
		{"it leaves to what does not run", follow.Resting, rest(idle), follow.Empty, "", true},
		{"the agent stops", follow.Resting, moves(stopped), follow.Empty, "", true},
		{"the agent runs again", follow.Resting, moves(again), follow.Resting, "a", true},
		{"nothing changes", follow.Resting, moves(a), follow.Resting, "a", false},
		{"what was painted is gone", follow.Resting, forget, follow.Resting, "a", true},
		{"the thread is removed", follow.Resting, moves(none), follow.Empty, "", true},

		{"the selection goes on", follow.Moving, moves(follow.Selection{ID: "c", Run: "3"}), follow.Moving, "a", false},
		{"it comes back", follow.Moving, moves(a), follow.Passing, "a", false},
		{"it comes back, and the agent runs again", follow.Moving, moves(again), follow.Passing, "a", true},
		{"it comes back, and the agent stopped", follow.Moving, moves(stopped), follow.Empty, "", true},
		{"it comes to rest", follow.Moving, rest(b), follow.Resting, "b", true},
		{"it comes to rest on what does not run", follow.Moving, rest(idle), follow.Empty, "", true},
		{"all threads are removed", follow.Moving, moves(none), follow.Empty, "", true},

		{"the selection comes to rest where it was", follow.Passing, rest(a), follow.Resting, "a", false},
		{"it leaves again", follow.Passing, moves(b), follow.Moving, "a", false},
		{"the agent stops meanwhile", follow.Passing, moves(stopped), follow.Empty, "", true},
		{"the agent is another meanwhile", follow.Passing, moves(again), follow.Passing, "a", true},
		{"painted anew meanwhile", follow.Passing, forget, follow.Passing, "a", true},
	} {
		t.Run(c.from.String()+": "+c.name, func(t *testing.T) {
			f := at(t, c.from)
			shows, tells := c.do(f)
			if f.State() != c.to || shows != c.shows || tells != c.tells {
				t.Errorf("is %v and shows %q (told: %v), want %v, %q, %v", f.State(), shows, tells, c.to, c.shows, c.tells)
			}
		})
	}
}

// The first selection rests at once, and so does the thread that is to get the keys.
func TestRestsAtOnce(t *testing.T) {
	f := &follow.Follower{}
	if moved, atOnce := f.Select("a"); !moved || !atOnce {
		t.Errorf("first: moved %v, at once %v", moved, atOnce)
	}
	if moved, atOnce := f.Select("b"); !moved || atOnce {
		t.Errorf("second: moved %v, at once %v", moved, atOnce)
	}
	f.FocusWhenRunning("c")
	if moved, atOnce := f.Select("c"); !moved || !atOnce {
		t.Errorf("wished: moved %v, at once %v", moved, atOnce)
	}
	if f.TakeFocus(follow.Selection{ID: "c"}) || f.TakeFocus(follow.Selection{ID: "a", Run: "1"}) {
		t.Error("gets the keys before it runs, or another does")
	}
	if c := (follow.Selection{ID: "c", Run: "3"}); !f.TakeFocus(c) || f.TakeFocus(c) {
		t.Error("does not get the keys once")
	}
}

// Whatever happens in whatever order: once the selection rests, its terminal is attached and no other; while it moves,
// nothing new is attached; and the pane is told only what changes something.
func TestFollows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &follow.Follower{}
		ids := rapid.SampledFrom([]thread.ID{"", "a", "b", "c"})
		runs := rapid.SampledFrom([]thread.ExecutionID{"", "1", "2"})
		sel, told, gone := follow.Selection{}, follow.Selection{}, false
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				sel.ID = ids.Draw(t, "selected")
			case 1:
				f.Rest()
			case 2:
				f.Reattach()
				gone = true
			case 3:
				f.Visit(sel.ID)
			default:
			}
			if sel.Run = runs.Draw(t, "runs"); sel.ID == "" {
				sel.Run = ""
			}
			before := f.Shown()
			f.Select(sel.ID)
			id, tell := f.Attach(sel)
			if id != f.Shown() {
				t.Fatalf("shows %q, says %q", f.Shown(), id)
			}
			if id != "" && id != sel.ID && (f.Rests() || id != before) {
				t.Fatalf("%q is attached, %q is selected (at rest: %v)", id, sel.ID, f.Rests())
			}
			if f.Rests() && sel.Run != "" && id != sel.ID {
				t.Fatalf("the selection rests on %q, which runs, and %q is attached", sel.ID, id)
			}
			if id != "" && id == sel.ID && sel.Run == "" {
				t.Fatalf("%q is attached and does not run", id)
			}
			now := follow.Selection{ID: id, Run: sel.Run}
			if tell && now == told && !gone {
				t.Fatalf("attaches to %+v twice", now)
			}
			if tell {
				told, gone = now, false
			}
		}
	})
}
