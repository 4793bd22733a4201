package manager_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

const year = 365 * 24 * time.Hour

// TestClockIsSet: whatever the clock is set to between, during and after turns, nothing is lost, nothing changes its
// order, nothing waits, and every turn has its files.
func TestClockIsSet(t *testing.T) {
	for name, jumps := range map[string][]time.Duration{
		"ahead": {0, year, year, year}, "behind": {0, -year, -year, -year}, "ahead and right": {0, year, 0, 0}, "behind and right": {0, -year, 0, 0},
		"to and fro": {0, year, -year, year, -year, 0}, "by minutes": {0, -20 * time.Minute, 20 * time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				a, b := w.create(thread.NewRequest{Name: "one"}), w.create(thread.NewRequest{Name: "two"})
				made := []thread.ID{a.ID, b.ID}
				turns := 0
				for i, to := range jumps {
					w.set(to)
					for _, id := range []thread.ID{a.ID, b.ID} {
						w.talk(id, turns+1, turns+1)
						w.respond(id, fmt.Sprint("p", turns+2), "call", false)
						w.set(-to) // in the middle of a turn
						w.trees.set(w.status(id).Dir, fmt.Sprintf("files %d", turns+2))
						w.respond(id, fmt.Sprint("p", turns+2), fmt.Sprint("answer to p", turns+2), true)
						w.set(to)
					}
					turns += 2
					made = append(made, w.fork(thread.ForkRequest{Thread: "one", Label: fmt.Sprint("fork ", i)}).ID)
					if i%2 == 1 {
						w.crash()
						if _, err := w.m.Agents.ResumeAll(ctx, 80, 24); err != nil {
							t.Fatal(err)
						}
						synctest.Wait()
					}
					w.check(made, []thread.ID{a.ID, b.ID}, turns)
				}
				w.set(0)
				w.crash()
				w.check(made, []thread.ID{a.ID, b.ID}, turns)
			})
		})
	}
}

// check looks at the list, and at all turns of the threads that had some.
func (w *world) check(made, talked []thread.ID, turns int) {
	w.t.Helper()
	list, err := w.m.Threads.List(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	var got []thread.ID
	for _, s := range list {
		got = append(got, s.ID)
	}
	if !slices.Equal(got, made) {
		w.t.Errorf("listed are %v, made were %v", got, made)
	}
	for _, id := range talked {
		page, err := w.m.History.Timeline(ctx, string(id), thread.Page{Turns: true, Limit: 1000})
		if err != nil || len(page) != turns {
			w.t.Fatalf("%d turns are there of %d: %v", len(page), turns, err)
		}
		for i, c := range page {
			n := turns - i
			if c.Turn != n || c.Prompt != fmt.Sprint("p", n) || c.Answer != fmt.Sprint("answer to p", n) {
				w.t.Errorf("turn %d is %d: %q, %q", n, c.Turn, c.Prompt, c.Answer)
			}
			if c.Snapshot == nil || c.Snapshot.Tree != fmt.Sprintf("files %d", n) {
				w.t.Errorf("turn %d has the files %+v", n, c.Snapshot)
			}
			if i > 0 && page[i-1].Seq <= c.Seq {
				w.t.Errorf("turn %d is number %d, the next one %d", n, c.Seq, page[i-1].Seq)
			}
		}
		if s := w.status(id); s.Turn != turns || s.Head != page[0].ID {
			w.t.Errorf("it stands at turn %d of %d", s.Turn, turns)
		}
	}
}
