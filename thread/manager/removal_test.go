package manager_test

import (
	"fmt"
	"slices"
	"testing"

	"orchestrator/thread"
)

// TestThreadsThatAreGoneAreForgotten: many threads are made, answer and are removed; nothing of them stays in memory, and
// gateway and servers are told of the end of each agent and of each thread.
func TestThreadsThatAreGoneAreForgotten(t *testing.T) {
	withServers(t, func(w *world, s *servers) {
		stays := w.create(thread.NewRequest{Prompt: "stays"})
		const n = 60
		for i := range n {
			one := w.create(thread.NewRequest{Prompt: fmt.Sprint("task ", i)})
			w.turn(one.ID, fmt.Sprint("task ", i))
			end := w.m.Lifecycle.Delete
			if i%2 == 0 {
				end = w.m.Lifecycle.Archive
			}
			if err := end(ctx, one.Name); err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(w.routes.resting, one.ID) {
				t.Errorf("thread %d: the gateway is not told that its agent has ended", i)
			}
			if slices.Contains(w.routes.forgotten, one.ID) {
				t.Errorf("thread %d is forgotten while it can be restored", i)
			}
			if err := w.m.Lifecycle.Discard(ctx, one.ID); err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(w.routes.forgotten, one.ID) || s.count("forget "+string(one.ID)) != 1 {
				t.Errorf("thread %d: its end is not told", i)
			}
		}
		w.turn(stays.ID, "stays")
		if got := w.m.Held(); got > 2 { // what suggests forks forgets at the next thread's first answer
			t.Errorf("something of %d threads is in memory", got)
		}
	})
}
