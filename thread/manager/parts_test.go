package manager_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// part asks for the run of a round.
func (w *world) part(ctx context.Context, round int) exec.Execution {
	w.t.Helper()
	x, err := w.m.Parts.Start(ctx, thread.NewRequest{
		Agent: "claude", Prompt: "do it", Once: thread.Once{On: true, ReadOnly: true, Part: partOf(round)},
	})
	if err != nil {
		w.t.Fatalf("round %d: %v", round, err)
	}
	return x
}

func partOf(round int) thread.Part {
	return thread.Part{Task: "task-001", Agent: "vision", Round: round}
}

// found returns the run of a round, "" for none.
func (w *world) found(round int) exec.ID {
	w.t.Helper()
	x, ok, err := w.m.Parts.Find(context.Background(), partOf(round))
	if err != nil || ok != (x.ID != "") {
		w.t.Fatalf("round %d: %v, %v", round, x, err)
	}
	return x.ID
}

// TestPartsBeginOnce: a round has one run, whoever asks again for it, whoever leaves meanwhile, and after a crash; what a crash
// has left without an execution, or with one that has no prompt, is begun once more, and once.
func TestPartsBeginOnce(t *testing.T) {
	var mu sync.Mutex // guards told
	told := map[exec.ID][]exec.State{}
	inWorld(t, func(w *world) {
		left, cancel := context.WithCancel(context.Background())
		cancel()
		first := w.part(left, 1)
		synctest.Wait()
		if again := w.part(context.Background(), 1); again.ID != first.ID || w.found(1) != first.ID || first.Part != partOf(1) {
			t.Errorf("%s began, and then %s", first.ID, again.ID)
		}
		w.runIs(first.Thread, exec.Running)

		bare := w.status(first.Thread).Thread
		bare.ID, bare.Name, bare.Once.Part = thread.NewID[thread.ID](), "left-1111", partOf(2)
		promptless := bare
		promptless.ID, promptless.Name, promptless.Once.Part = thread.NewID[thread.ID](), "left-2222", partOf(3)
		for _, one := range []thread.Thread{bare, promptless} {
			if err := w.store.CreateThread(context.Background(), one); err != nil {
				t.Fatal(err)
			}
		}
		never, err := w.cfg.Runs.Store.Add(context.Background(), exec.Execution{
			ID: thread.NewID[exec.ID](), Thread: promptless.ID, Prompt: "p-never", Agent: "claude", Part: partOf(3), Lost: exec.PolicyAsk, Created: w.now(),
		})
		if err != nil {
			t.Fatal(err)
		}
		w.crash()
		synctest.Wait()
		if got := w.part(context.Background(), 1); got.ID != first.ID {
			t.Errorf("after a crash round 1 begins again: %s, it was %s", got.ID, first.ID)
		}
		for round := 2; round <= 3; round++ {
			if id := w.found(round); id != "" {
				t.Errorf("round %d has %s, which never began", round, id)
			}
			x := w.part(context.Background(), round)
			if x.ID == never.ID || w.found(round) != x.ID {
				t.Errorf("round %d began as %s, and %s is found", round, x.ID, w.found(round))
			}
			if again := w.part(context.Background(), round); again.ID != x.ID {
				t.Errorf("round %d begins twice", round)
			}
		}
		if _, err := w.m.Threads.Status(context.Background(), string(bare.ID)); !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("the thread without an execution stays: %v", err)
		}

		second := w.found(2)
		for range 2 { // ended once, and no error for one that has ended
			if err := w.m.Parts.Cancel(context.Background(), second, "not needed"); err != nil {
				t.Error(err)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if states := told[second]; len(states) < 2 || states[len(states)-1] != exec.Cancelled {
			t.Errorf("the states of %s that were told of: %v", second, states)
		}
	}, withRuns, func(w *world) {
		w.cfg.Runs.Parted = func(x exec.Execution) {
			mu.Lock()
			defer mu.Unlock()
			told[x.ID] = append(told[x.ID], x.State)
		}
	})
}
