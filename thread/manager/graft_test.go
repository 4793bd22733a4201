package manager_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
)

// lose has the store forget a thread's turns after the first ones, all of them for 0.
func (w *world) lose(id thread.ID, turns int) {
	w.t.Helper()
	ctx := context.Background()
	old, ok := w.store.Store.(*memory.Store)
	if !ok {
		w.t.Fatal("another store")
	}
	th, err := old.Thread(ctx, id)
	if err != nil {
		w.t.Fatal(err)
	}
	list, err := old.Lineage(ctx, th.Head, thread.Page{Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	next := memory.New()
	th.Head, th.Turn, th.Usage = "", 0, thread.Usage{}
	if err := next.CreateThread(ctx, th); err != nil {
		w.t.Fatal(err)
	}
	for _, c := range slices.Backward(list) {
		if c.Turn > turns {
			break
		}
		d, err := old.Delta(ctx, c.ID)
		if err == nil {
			_, err = next.PutCheckpoint(ctx, c, d)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	w.store.Store = next
}

// TestSpooledUponLostAnswers has the spool keep answers whose past the store then loses: they are stored on what is
// left, that is said once, and the thread goes on.
func TestSpooledUponLostAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		left int
		told string // right after the start
		turn int
	}{
		"the last turn":  {1, "one|call|result|answer to one|three|call|result|answer to three|four|call|result|answer to four", 4},
		"all turns":      {0, "three|call|result|answer to three|four|call|result|answer to four", 4},
		"nothing at all": {2, toldInAll + "|four|call|result|answer to four", 4},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.create(thread.NewRequest{})
				w.turn(s.ID, "one")
				w.turn(s.ID, "two")
				w.store.fail(errNoRoom)
				w.turn(s.ID, "three")
				w.turn(s.ID, "four")
				kept := w.store.Store.(*memory.Store)
				w.lose(s.ID, tc.left)
				if tc.left == 2 {
					w.store.Store = kept
				}
				w.crash()
				if got := w.told(s.ID); got != tc.told {
					t.Errorf("stored is %s\nwant %s", got, tc.told)
				}
				if got := w.status(s.ID); got.Turn != tc.turn {
					t.Errorf("turn %d", got.Turn)
				}
				if left := w.spooled(); left != "" {
					t.Errorf("the spool still holds %s", left)
				}
				if said := strings.Count(w.events.notices(), "the database lost"); said != min(1, 2-tc.left) {
					t.Errorf("it is said %d times: %s", said, w.events.notices())
				}
				if _, err := w.m.Agents.Start(context.Background(), string(s.ID), 0, 0); err != nil {
					t.Fatal(err)
				}
				w.turn(s.ID, "five")
				want := toldInAll + "|four|call|result|answer to four|five|call|result|answer to five"
				if tc.left == 0 { // no transcript is stored: the agent got a summary, in a session that begins with it
					want = "five|call|result|answer to five"
				}
				if got := w.told(s.ID); got != want {
					t.Errorf("after going on, stored is %s\nwant %s", got, want)
				}
				if got := w.status(s.ID); got.Turn != 5 {
					t.Errorf("turn %d after going on", got.Turn)
				}
			}, spooling)
		})
	}
}

// TestSpooledOfNoThread sets answers aside whose thread is not there any more, and names them once.
func TestSpooledOfNoThread(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "one")
		w.store.fail(errNoRoom)
		w.turn(s.ID, "two")
		w.store.Store = memory.New()
		w.crash()
		if said := w.events.notices(); !strings.Contains(said, string(s.ID)) || !strings.Contains(said, w.dir) || !strings.Contains(said, "damaged") {
			t.Errorf("people are told %q", said)
		}
		if left := w.spooled(); strings.Contains(left, ".spool") || !strings.Contains(left, string(s.ID)) {
			t.Errorf("the spool holds %q", left)
		}
		w.crash()
		if said := w.events.notices(); strings.Contains(said, string(s.ID)) {
			t.Errorf("people are told again: %q", said)
		}
	}, spooling)
}
