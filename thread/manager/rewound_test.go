package manager_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"orchestrator/thread"
)

// rows says what a timeline with all of it holds, newest first.
func (w *world) rows(name string, p thread.Page) []string {
	w.t.Helper()
	p.Turns, p.All = true, true
	list, err := w.m.Timeline(ctx, name, p)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, c := range list {
		row := fmt.Sprintf("%s %d %s", c.Kind, c.Turn, c.Prompt)
		if c.Rewound {
			row += ", aside"
		}
		out = append(out, row)
	}
	return out
}

// TestUndoneRewindKeepsWhatFollowedIt rewinds, works on, and undoes the rewind: what was worked on is in the list.
func TestUndoneRewindKeepsWhatFollowedIt(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		for _, p := range []string{"one", "two"} {
			w.turn(s.ID, p)
			time.Sleep(time.Second)
		}
		rewind := func(at string) thread.CheckpointID {
			time.Sleep(time.Second)
			r, err := w.m.Rewind(ctx, thread.RewindRequest{Thread: s.Name, At: at, Conversation: true})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			return r.Safety
		}
		safety := rewind("1")
		w.turn(s.ID, "another two")
		rewind(string(safety))
		want := []string{"rewind 2 ", "turn 2 another two, aside", "safety 2 ", "turn 2 two", "turn 1 one"}
		if got := w.rows(s.Name, thread.Page{}); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if got := w.rows(s.Name, thread.Page{Before: 2}); !slices.Equal(got, want[4:]) {
			t.Errorf("before turn 2: %q", got)
		}
	})
}

// TestAnswersAreListedAtOnce: what was answered is listed while its turn has not ended, and after a kill.
func TestAnswersAreListedAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "one")
		w.respond(s.ID, "two", "call", false)
		want := []string{"response 2 two", "turn 1 one"}
		if got := w.rows(s.Name, thread.Page{}); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		w.crash()
		if got := w.rows(s.Name, thread.Page{}); !slices.Equal(got, want) {
			t.Errorf("after the kill %q, want %q", got, want)
		}
	})
}
