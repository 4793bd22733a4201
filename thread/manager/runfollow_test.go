package manager_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"orchestrator/checkpoint/worktest/memory"
	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// away is a store of executions that cannot be asked for one while it is away.
type away struct {
	exec.Store
	is bool
}

func (s *away) Execution(ctx context.Context, ref string) (exec.Execution, error) {
	if s.is {
		return exec.Execution{}, thread.ErrUnreachable
	}
	return s.Store.Execution(ctx, ref)
}

// hears is what a follower has heard when nothing moves any more, and whether it was told the end.
func hears(t *testing.T, events <-chan thread.Event) (all string, over bool) {
	t.Helper()
	var words []string
	for {
		synctest.Wait()
		select {
		case e, ok := <-events:
			if !ok {
				return strings.Join(words, " "), true
			}
			word := e.Run.State
			if e.Run.Event != nil {
				word = e.Run.Event.Text
			}
			words = append(words, word)
		default:
			return strings.Join(words, " "), false
		}
	}
}

// TestFollowEndsOne: a follower that cannot be served, and one that leaves, take nothing from the others.
func TestFollowEndsOne(t *testing.T) {
	store := &away{}
	inWorld(t, func(w *world) {
		s := w.once("works")
		x := w.runIs(s.ID, exec.Running)
		follow := func(ctx context.Context) <-chan thread.Event {
			t.Helper()
			events, err := w.m.Executions.Follow(ctx, x.ID)
			if err != nil {
				t.Fatal(err)
			}
			return events
		}
		first := follow(w.t.Context())
		if got, over := hears(w.t, first); !strings.HasSuffix(got, "running") || over {
			t.Errorf("the first heard %q, over %v", got, over)
		}
		store.is = true
		if _, err := w.m.Executions.Follow(w.t.Context(), "0123456789abcdef"); !errors.Is(err, thread.ErrUnreachable) {
			t.Errorf("of one that nobody knows: %v", err)
		}
		leaving, leave := context.WithCancel(w.t.Context())
		second := follow(leaving) // what is open is known without the store
		if got, over := hears(w.t, second); !strings.HasSuffix(got, "running") || over {
			t.Errorf("the second heard %q, over %v", got, over)
		}
		leave()
		if _, over := hears(w.t, second); !over {
			t.Error("the second is not over")
		}
		store.is = false
		if got, over := hears(w.t, first); got != "" || over {
			t.Errorf("the first heard %q of others, over %v", got, over)
		}
		w.sess.of(s.ID).spec.OnRun(thread.RunEvent{Kind: thread.RunText, Text: "word"})
		if got, over := hears(w.t, first); got != "word" || over {
			t.Errorf("the first heard %q, over %v", got, over)
		}
		if _, err := w.m.Executions.Cancel(w.t.Context(), x.ID, "enough"); err != nil {
			t.Fatal(err)
		}
		if got, over := hears(w.t, first); got != "cancelled" || !over {
			t.Errorf("at its end the first heard %q, over %v", got, over)
		}
	}, withRuns, func(w *world) { store.Store = w.cfg.Runs.Store; w.cfg.Runs.Store = store })
}

// TestFollowEnded: of an execution that has ended only that is told, whatever its process says on its way out.
func TestFollowEnded(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("works")
		x := w.runIs(s.ID, exec.Running)
		report := w.sess.of(s.ID).spec.OnRun
		report(thread.RunEvent{Kind: thread.RunText, Text: "before"})
		if _, err := w.m.Executions.Cancel(w.t.Context(), x.ID, "enough"); err != nil {
			t.Fatal(err)
		}
		report(thread.RunEvent{Kind: thread.RunText, Text: "after"})
		for range 2 {
			events, err := w.m.Executions.Follow(w.t.Context(), x.ID)
			if err != nil {
				t.Fatal(err)
			}
			if got, over := hears(w.t, events); got != "cancelled" || !over {
				t.Errorf("heard %q, over %v", got, over)
			}
		}
	}, withRuns)
}

// slow is a store of executions whose Add waits.
type slow struct {
	exec.Store
	adds, more chan struct{}
}

func (s *slow) Add(ctx context.Context, x exec.Execution, events ...exec.Event) (exec.Execution, error) {
	s.adds <- struct{}{}
	<-s.more
	return s.Store.Add(ctx, x, events...)
}

// TestClientLeaves: a run whose client has left before it was told the run's name does not work for nobody.
func TestClientLeaves(t *testing.T) {
	for _, limit := range []int{0, 1} { // it waits, or has a process at once
		store := &slow{adds: make(chan struct{}), more: make(chan struct{})}
		inWorld(t, func(w *world) {
			store.adds, store.more = make(chan struct{}), make(chan struct{})
			if limit == 0 {
				if _, err := w.m.Executions.SetQueue(w.t.Context(), exec.QueueChange{Pause: true}); err != nil {
					t.Fatal(err)
				}
			}
			ctx, leave := context.WithCancel(w.t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := w.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Prompt: "x", Once: thread.Once{On: true}})
				done <- err
			}()
			<-store.adds
			leave()
			synctest.Wait()
			close(store.more)
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("told: %v", err)
			}
			synctest.Wait()
			list, err := w.m.Executions.List(w.t.Context(), exec.Query{})
			if err != nil || len(list) != 1 || list[0].State != exec.Cancelled || !strings.Contains(list[0].Reason, "left") {
				t.Errorf("%+v, %v", list, err)
			}
			if p := w.promptOf(list[0]); !p.State.Over() {
				t.Errorf("its prompt is %s", p.State)
			}
			if open, _ := w.store.OpenExecutions(w.t.Context()); len(open) != 0 || w.m.Executions.Pending() {
				t.Errorf("left: %v", open)
			}
		}, func(w *world) { withRuns(w); store.Store = memory.New(w.now); w.cfg.Runs.Store = store })
	}
}
