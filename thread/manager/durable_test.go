package manager_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// TestWorkingUntilItIsDurable keeps an answer, or the turn that ends with it, out of the store, whose put does not return
// or refuses it: until it is stored the thread is shown working, whatever its agent tells meanwhile.
func TestWorkingUntilItIsDurable(t *testing.T) {
	ways := map[string]func(w *world, id thread.ID) (let func()){
		"the answer is held": func(w *world, _ thread.ID) func() { return w.store.hold(thread.KindResponse) },
		"the turn is held":   func(w *world, _ thread.ID) func() { return w.store.hold(thread.KindTurn) },
		"the answer is refused": func(w *world, _ thread.ID) func() {
			w.store.fail(thread.ErrDiskFull)
			return func() { w.store.fail(nil) }
		},
		"the turn is refused": func(w *world, id thread.ID) func() {
			w.store.refuseTurns(id)
			return func() { w.store.refuseTurns("") }
		},
	}
	for how, keep := range ways {
		for _, hook := range []string{"", "Stop", "PermissionRequest"} {
			if hook == "PermissionRequest" && strings.HasSuffix(how, "refused") {
				continue // shown all the same: a store may refuse for minutes, and a person is needed
			}
			t.Run(how+" "+hook, func(t *testing.T) {
				inWorld(t, func(w *world) {
					s := w.create(thread.NewRequest{})
					w.turn(s.ID, "p1")
					w.respond(s.ID, "p2", "call", false)
					let := keep(w, s.ID)
					w.respond(s.ID, "p2", "the answer", true)
					if hook != "" {
						w.m.Traffic.Hook(s.ID, hook, nil)
					}
					time.Sleep(time.Minute)
					synctest.Wait()
					if got := w.status(s.ID); got.State.State != thread.StateWorking || got.Turn != 1 {
						t.Errorf("before it is stored the thread is %s at turn %d: %s", got.State.State, got.Turn, got.State.Why())
					}
					if got := w.events.states(s.ID); !strings.HasSuffix(got, " done working") {
						t.Errorf("before it is stored people saw %s", got)
					}
					if stored, err := w.store.Thread(ctx, s.ID); err != nil || stored.Turn != 1 {
						t.Fatalf("turn %d is stored all the same, %v", stored.Turn, err)
					}
					let()
					time.Sleep(5 * time.Second)
					synctest.Wait()
					got := w.status(s.ID)
					if c, err := w.store.Checkpoint(ctx, got.Head); err != nil || c.Kind != thread.KindTurn || c.Turn != 2 {
						t.Errorf("stored at the end: %+v, %v", c, err)
					}
					if got.State.State != thread.StateDone && hook != "PermissionRequest" || got.State.State == thread.StateWorking {
						t.Errorf("once it is stored the thread is %s: %s", got.State.State, got.State.Why())
					}
				})
			})
		}
	}
}

// TestReadAgainAfterCheckpoint: a thread that cannot be read after its checkpoint was stored is read once it can be.
func TestReadAgainAfterCheckpoint(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "p1")
		w.store.unreadable(3)
		w.respond(s.ID, "p2", "the answer", true)
		time.Sleep(time.Minute)
		synctest.Wait()
		got := w.status(s.ID)
		stored, err := w.store.Thread(ctx, s.ID)
		if err != nil || got.Turn != 2 || got.Head != stored.Head {
			t.Errorf("shown at turn %d with %s, stored with %s, %v", got.Turn, got.Head, stored.Head, err)
		}
	})
}
