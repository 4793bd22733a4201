package manager_test

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/budget"
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

// What a run has spent counts for all above it, also over one that has used nothing itself.
func TestBudgetAboveARunWithoutUsage(t *testing.T) {
	inWorld(t, func(w *world) {
		above := w.once("above")
		synctest.Wait()
		between := w.once("between", func(r *thread.NewRequest) { r.By = above.ID })
		synctest.Wait()
		below := w.once("below", func(r *thread.NewRequest) { r.By = between.ID })
		synctest.Wait()
		w.finish(below.ID, "below") // costs 0.5 by its answer
		if _, err := w.m.Executions.Cancel(ctx, w.execution(between.ID).ID, "no need"); err != nil {
			t.Fatal(err)
		}
		if x := w.runIs(between.ID, exec.Cancelled); x.Usage != (thread.Usage{}) {
			t.Fatalf("it has used something: %+v", x.Usage)
		}
		w.reopen()
		w.setBudget(above.Name, 5)
		if a := w.account(above.Name); a.Spent.USD != 0.5 {
			t.Errorf("the thread above: %+v", a.Spent)
		}
	}, withRuns)
}

// settings is a store that calls before for each setting that is written.
type settings struct {
	thread.Store
	before func()
}

func (s *settings) SetSetting(ctx context.Context, key, value string) error {
	if key == "budgets" && s.before != nil {
		s.before()
	}
	return s.Store.SetSetting(ctx, key, value)
}

// Of two people who change a budget at once each gets what they set.
func TestBudgetChangedTwiceAtOnce(t *testing.T) {
	store := &settings{}
	inWorld(t, func(w *world) {
		tokens, other := int64(1000), make(chan error, 1)
		store.before = func() {
			store.before = nil
			go func() {
				_, err := w.m.Budgets.Set(ctx, budget.Change{Scope: "project", Tokens: &tokens})
				other <- err
			}()
			for range 10_000 { // the other one comes as far as it can; it waits for a lock, which synctest does not see
				runtime.Gosched()
			}
		}
		w.setBudget("project", 5)
		if err := <-other; err != nil {
			t.Fatal(err)
		}
		if l := w.account("project").Limit; l.USD == nil || *l.USD != 5 || l.Tokens == nil || *l.Tokens != tokens {
			t.Errorf("the project has %+v", l)
		}
	}, withRuns, func(w *world) { store.Store = w.store.Store; w.store.Store = store })
}

// speechless is a store that does not tell of an execution while it is so.
type speechless struct {
	exec.Store
	is atomic.Bool
}

func (s *speechless) Execution(ctx context.Context, ref string) (exec.Execution, error) {
	if s.is.Load() {
		return exec.Execution{}, thread.ErrUnreachable
	}
	return s.Store.Execution(ctx, ref)
}

// A run does not start while the store does not tell who asked for it, and so pays for it.
func TestBudgetWaitsToKnowWhoAsked(t *testing.T) {
	store := &speechless{}
	inWorld(t, func(w *world) {
		above := w.once("above", ofGroup("night"))
		synctest.Wait()
		w.setBudget("group:night", 0)
		below := w.once("below", func(r *thread.NewRequest) { r.By = above.ID })
		w.runIs(below.ID, exec.Queued)
		w.finish(above.ID, "above")
		store.is.Store(true)
		w.reopen()
		w.setBudget("group:night", 1)
		if x := w.runIs(below.ID, exec.Queued); !strings.Contains(x.Reason, "cannot be read") {
			t.Errorf("it waits because %q", x.Reason)
		}
		store.is.Store(false)
		time.Sleep(time.Minute)
		w.runIs(below.ID, exec.Running)
	}, withRuns, func(w *world) { store.Store = w.cfg.Runs.Store; w.cfg.Runs.Store = store })
}

// What a run that its server lost has used counts for its group: nothing is summed up before that is found out.
func TestBudgetSumsUpAfterRecovery(t *testing.T) {
	inWorld(t, func(w *world) {
		lost := w.once("lost", ofGroup("night"))
		synctest.Wait()
		w.turn(lost.ID, "lost") // costs 0.5 by its answer, which is not in its row yet
		synctest.Wait()
		old, gate := w.m, make(chan struct{})
		w.shaky().set(func(op string) error {
			if op == "supersede" && w.m != old {
				<-gate
			}
			return nil
		}, nil)
		w.crash()
		five := 5.0
		_, _ = w.m.Budgets.Set(ctx, budget.Change{Scope: "group:night", USD: &five}) // it is set; its sum is not known yet
		synctest.Wait()
		_, early := w.m.Budgets.List(ctx)
		close(gate)
		synctest.Wait()
		if a := w.account("group:night"); early == nil || a.Spent.USD == 0 {
			t.Errorf("%v, then %+v", early, a.Spent)
		}
	}, withShaky)
}
