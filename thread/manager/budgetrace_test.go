package manager_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// A budget that is used up between the choice to start a run and its process lets no process start: the run waits with that
// reason, and starts once there is more.
func TestBudgetUsedUpWhileARunStarts(t *testing.T) {
	inWorld(t, func(w *world) {
		w.setBudget("group:night", 1)
		screen := w.create(thread.NewRequest{Agent: "claude", Prompt: "hello", Once: thread.Once{Group: "night"}})
		synctest.Wait()
		w.spend(screen.ID, 0.5)
		spent := false
		w.shaky().set(nil, func(op string) error {
			if op == "claim" && !spent {
				spent = true
				w.spend(screen.ID, 0.5)
			}
			return nil
		})
		late := w.once("late", ofGroup("night"))
		x := w.runIs(late.ID, exec.Queued)
		if !spent || !strings.Contains(x.Reason, "the budget of the group night is used up ($1.00 of $1.00)") {
			t.Errorf("spent %v, it waits because %q", spent, x.Reason)
		}
		w.setBudget("group:night", 2)
		w.runIs(late.ID, exec.Running)
		w.finish(late.ID, "late")
		w.runIs(late.ID, exec.Completed)
	}, withShaky)
}
