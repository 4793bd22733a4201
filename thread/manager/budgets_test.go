package manager_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	exec "orchestrator/thread/work"
)

func usd(n float64) thread.Budget { return thread.Budget{USD: &n} }

// ofGroup has a run in a group, with a budget of its own if one is given.
func ofGroup(group string, own ...float64) func(*thread.NewRequest) {
	return func(r *thread.NewRequest) {
		r.Once.Group = group
		if len(own) > 0 {
			r.Once.Budget = usd(own[0])
		}
	}
}

// reserve asks for a request of a thread that costs so much.
func (w *world) reserve(id thread.ID, cost float64) (*budget.Hold, error) {
	return w.m.Budgets.Reserve(context.Background(), id, budget.Ask{
		Model: "m", Main: true, Input: 1000, Cost: func(int64) (float64, bool) { return cost, true },
	})
}

// spend has a thread make a request that costs so much.
func (w *world) spend(id thread.ID, cost float64) {
	w.t.Helper()
	h, err := w.reserve(id, cost)
	if err != nil {
		w.t.Fatal(err)
	}
	h.Settle(thread.Usage{Input: 1000, Output: 10, CostUSD: cost, Priced: true})
}

func (w *world) setBudget(scope string, n float64) budget.Account {
	w.t.Helper()
	a, err := w.m.Budgets.Set(context.Background(), budget.Change{Scope: scope, USD: &n})
	if err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	return a
}

// account returns what is reported of a scope.
func (w *world) account(name string) budget.Account {
	w.t.Helper()
	r, err := w.m.Budgets.List(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, a := range r.Accounts {
		if a.Name == name {
			return a
		}
	}
	w.t.Fatalf("%s is not among %+v", name, r.Accounts)
	return budget.Account{}
}

// A group's budget that is used up ends all that runs in it, has what is queued wait with the reason, and lets it start
// once it is raised. Others go on.
func TestBudgetOfAGroupEndsItsRuns(t *testing.T) {
	inWorld(t, func(w *world) {
		w.setBudget("group:night", 1)
		one, two := w.once("one", ofGroup("night")), w.once("two", ofGroup("night"))
		other := w.once("other")
		synctest.Wait()
		w.spend(one.ID, 0.6)
		w.spend(two.ID, 0.2)
		w.spend(other.ID, 5)
		w.runIs(one.ID, exec.Running)
		if _, err := w.reserve(two.ID, 0.3); err == nil || !strings.Contains(err.Error(), "the budget of the group night is used up: $0.80 of $1.00, and the next request would use about $0.30. Raise it with `orchestrator budget set group:night --usd N`") {
			t.Fatalf("over the limit: %v", err)
		}
		for _, s := range []thread.Status{one, two} {
			if x := w.runIs(s.ID, exec.Failed); !strings.Contains(x.Reason, "the budget of the group night is used up") || x.Failure.Code != exec.CodeOverflow {
				t.Errorf("%s: %q, %+v", x.Name, x.Reason, x.Failure)
			}
		}
		w.runIs(other.ID, exec.Running)
		waits := w.once("waits", ofGroup("night"))
		if x := w.runIs(waits.ID, exec.Queued); !strings.Contains(x.Reason, "the budget of the group night is used up ($0.80 of $1.00). Raise it") {
			t.Errorf("it waits because %q", x.Reason)
		}
		w.runIs(w.once("of another group", ofGroup("day")).ID, exec.Running)
		if a := w.account("group:night"); a.Level != budget.Over || a.Spent.USD < 0.79 || a.InFlight != 0 {
			t.Errorf("%+v", a)
		}
		w.setBudget("group:night", 2)
		w.runIs(waits.ID, exec.Running)
		w.spend(waits.ID, 0.3)
		if told := w.budgetsTold(); len(told) != 2 {
			t.Errorf("people were told %q", told)
		}
	}, withRuns)
}

// budgetsTold returns what the event log has of budgets.
func (w *world) budgetsTold() (all []string) {
	w.t.Helper()
	list, err := w.m.Threads.Happenings(context.Background(), thread.HappeningQuery{Kinds: []thread.HappeningKind{thread.HappenedBudget}})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, h := range list.Happenings {
		all = append(all, h.Text)
	}
	return all
}

// Who asks for more than is left ends alone: what else runs in the project goes on, and what is asked for starts.
func TestBudgetRefusesTooMuchAlone(t *testing.T) {
	inWorld(t, func(w *world) {
		w.setBudget("project", 10)
		greedy, other := w.once("greedy"), w.once("other")
		screen := w.create(thread.NewRequest{Agent: "claude", Prompt: "hello"})
		synctest.Wait()
		for range 6 {
			w.spend(other.ID, 1)
		}
		for _, id := range []thread.ID{screen.ID, greedy.ID} {
			if _, err := w.reserve(id, 5); err == nil || !strings.Contains(err.Error(), "the budget of the project has no room for this request: $6.00 of $10.00, and it would use about $5.00") {
				t.Errorf("too much: %v", err)
			}
			synctest.Wait()
		}
		if x := w.runIs(greedy.ID, exec.Failed); x.Failure.Code != exec.CodeOverflow || !strings.Contains(x.Reason, "no room for this request") {
			t.Errorf("%q, %+v", x.Reason, x.Failure)
		}
		if s := w.status(screen.ID); s.Execution == nil {
			t.Error("an agent in a terminal was ended")
		}
		w.runIs(other.ID, exec.Running)
		w.spend(other.ID, 1)
		w.runIs(w.once("next").ID, exec.Running)
		if told := w.budgetsTold(); len(told) != 0 {
			t.Errorf("people were told %q", told)
		}
	}, withRuns)
}

// What a run's agent asks for is paid for by the run, its group and its thread too.
func TestBudgetCoversWhatAnAgentAsksFor(t *testing.T) {
	inWorld(t, func(w *world) {
		above := w.once("above", ofGroup("night", 1))
		synctest.Wait()
		below := w.once("below", func(r *thread.NewRequest) { r.By = above.ID })
		synctest.Wait()
		w.spend(below.ID, 0.4)
		w.spend(above.ID, 0.3)
		if a := w.account("exec-001"); a.Spent.USD < 0.69 || a.Spent.USD > 0.71 {
			t.Errorf("the run above: %+v", a)
		}
		if a := w.account("group:night"); a.Spent.USD < 0.69 || a.Spent.USD > 0.71 {
			t.Errorf("its group: %+v", a)
		}
		if x := w.execution(below.ID); x.Group != "night" || x.Within == "" {
			t.Errorf("below: %+v", x)
		}
		if _, err := w.reserve(below.ID, 0.5); err == nil || !strings.Contains(err.Error(), "the budget of exec-001 is used up") {
			t.Errorf("%v", err)
		}
		w.runIs(above.ID, exec.Failed)
		w.runIs(below.ID, exec.Failed)
	}, withRuns)
}

// A thread in a terminal is only refused requests.
func TestBudgetOfAThread(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{Agent: "claude", Prompt: "hello", Once: thread.Once{Budget: usd(1)}})
		if s.Once.Budget.Set() {
			t.Errorf("its budget is a run's: %+v", s.Once)
		}
		w.spend(s.ID, 0.8)
		w.spend(s.ID, 0.15)
		if _, err := w.reserve(s.ID, 0.3); err == nil || !strings.Contains(err.Error(), "orchestrator budget set "+s.Name) {
			t.Errorf("%v", err)
		}
		if s := w.status(s.ID); s.Execution == nil {
			t.Error("its agent was ended")
		}
		if told := w.budgetsTold(); len(told) != 3 || !strings.Contains(told[0], "is 75 % used: $0.80 of $1.00") || !strings.Contains(told[1], "90 %") {
			t.Errorf("people were told %q", told)
		}
		w.reopen()
		if _, err := w.reserve(s.ID, 0.01); err != nil { // the harness's store has no spending by day: only its answers count
			t.Errorf("after a restart: %v", err)
		}
		if a := w.account(s.Name); a.Limit.USD == nil || *a.Limit.USD != 1 {
			t.Errorf("after a restart: %+v", a)
		}
		if _, err := w.m.Budgets.Set(context.Background(), budget.Change{Scope: s.Name, Clear: true}); err != nil {
			t.Fatal(err)
		}
		if h, err := w.reserve(s.ID, 99); err != nil {
			t.Errorf("without a budget: %v", err)
		} else {
			h.Release()
		}
	}, withRuns)
}

// A budget of nothing lets nothing start, and is no error.
func TestBudgetOfNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("do it", ofGroup("g", 0))
		x := w.runIs(s.ID, exec.Queued)
		if !strings.Contains(x.Reason, "$0.00 of $0.00") {
			t.Errorf("it waits because %q", x.Reason)
		}
		w.setBudget(x.Name, 1)
		w.runIs(s.ID, exec.Running)
		for _, c := range []budget.Change{{Scope: "nobody"}, {Scope: "group:a b", Clear: true}, {Scope: x.Name}, {Scope: ""}} {
			if _, err := w.m.Budgets.Set(context.Background(), c); err == nil {
				t.Errorf("%+v was accepted", c)
			}
		}
		w.finish(s.ID, "do it")
		if _, err := w.m.Budgets.Set(context.Background(), budget.Change{Scope: x.Name, Clear: true}); err == nil {
			t.Error("the budget of one that has ended was changed")
		}
	}, withRuns)
}

// A run without the gateway cannot keep a budget.
func TestBudgetWithoutTheGateway(t *testing.T) {
	inWorld(t, func(w *world) {
		_, err := w.m.Creation.New(context.Background(), thread.NewRequest{
			Agent: "claude", Prompt: "x", Flags: thread.Flags{NoGateway: true}, Once: thread.Once{On: true, Budget: usd(1)},
		})
		if err == nil || !strings.Contains(err.Error(), "nobody would count") {
			t.Errorf("%v", err)
		}
		around := func(r *thread.NewRequest) { r.Flags.NoGateway = true }
		free := w.once("free", around)
		w.runIs(free.ID, exec.Running)
		if _, err := w.m.Budgets.Set(context.Background(), budget.Change{Scope: free.Name, USD: new(float64)}); err == nil || !strings.Contains(err.Error(), "nobody would count") {
			t.Errorf("a budget for it: %v", err)
		}
		w.setBudget("group:night", 5)
		_, err = w.m.Creation.New(context.Background(), thread.NewRequest{
			Agent: "claude", Prompt: "x", Flags: thread.Flags{NoGateway: true}, Once: thread.Once{On: true, Group: "night"},
		})
		if err == nil || !strings.Contains(err.Error(), "group:night has a budget") {
			t.Errorf("in a group with one: %v", err)
		}
		w.setBudget("project", 100)
		if _, err = w.m.Prompts.Ask(context.Background(), string(free.ID), thread.AskRequest{Text: "more"}); err != nil {
			t.Fatal(err)
		}
		w.finish(free.ID, "free")
		if x := w.runIs(free.ID, exec.Queued); !strings.Contains(x.Reason, "project has a budget") {
			t.Errorf("its next run: %s, %q", x.State, x.Reason)
		}
		w.create(thread.NewRequest{Agent: "claude", Prompt: "hello", Flags: thread.Flags{NoGateway: true}})
		if told := w.budgetsTold(); len(told) != 1 || !strings.Contains(told[0], "project has a budget") {
			t.Errorf("people were told %q", told)
		}
	}, withRuns)
}

// What executions of an earlier server have spent counts for their groups, and for whoever asked for them.
func TestBudgetAfterARestart(t *testing.T) {
	inWorld(t, func(w *world) {
		w.setBudget("group:night", 5)
		above := w.once("above", ofGroup("night", 3))
		synctest.Wait()
		below := w.once("below", func(r *thread.NewRequest) { r.By = above.ID })
		synctest.Wait()
		w.finish(below.ID, "below") // costs 0.5 by its answer
		if x := w.runIs(below.ID, exec.Completed); x.Usage.CostUSD != 0.5 {
			t.Fatalf("%+v", x.Usage)
		}
		w.reopen()
		if a := w.account("group:night"); a.Spent.USD != 0.5 {
			t.Errorf("the group: %+v", a)
		}
		next := w.once("next", ofGroup("night"))
		w.runIs(next.ID, exec.Running)
		if _, err := w.reserve(next.ID, 4.6); err == nil || !strings.Contains(err.Error(), "$0.50 + ? of $5.00") {
			t.Errorf("the group lets pass: %v", err)
		}
	}, withRuns)
}

// listed counts how often all executions are listed.
type listed struct {
	exec.Store
	times atomic.Int64
	fail  atomic.Bool
}

func (l *listed) Executions(ctx context.Context, q exec.Query) ([]exec.Execution, error) {
	if q.Thread == "" {
		l.times.Add(1)
		if l.fail.Load() {
			return nil, errors.New("the store is away")
		}
	}
	return l.Store.Executions(ctx, q)
}

// Executions are summed up only for what a limit is set of and has no sum of its own, however late that is: then what
// earlier servers spent and what this one did both count, each once.
func TestBudgetReadsLate(t *testing.T) {
	store := &listed{}
	inWorld(t, func(w *world) {
		above := w.once("above", ofGroup("night"))
		synctest.Wait()
		below := w.once("below", func(r *thread.NewRequest) { r.By = above.ID })
		synctest.Wait()
		w.finish(below.ID, "below") // costs 0.5 by its answers
		w.finish(above.ID, "above")
		w.reopen()

		lists := func(what string, want int64, do func()) {
			t.Helper()
			synctest.Wait()
			before := store.times.Load()
			do()
			if n := store.times.Load() - before; n != want {
				t.Errorf("%s: the executions were listed %d times, want %d", what, n, want)
			}
		}
		next := w.once("next", ofGroup("night"))
		w.runIs(next.ID, exec.Running)
		lists("no limits", 0, func() { w.spend(next.ID, 0.1) })
		lists("the project's", 0, func() { w.setBudget("project", 100) })
		own := w.once("own", ofGroup("night", 9))
		w.runIs(own.ID, exec.Running)
		lists("a new run's", 0, func() { w.spend(own.ID, 0.2) })
		lists("a new thread's", 0, func() {
			w.setBudget(own.Name, 9)
			w.spend(own.ID, 0.3)
		})
		lists("the project's and the new ones'", 0, func() { w.spend(next.ID, 0.4) })
		w.finish(own.ID, "own") // it has its usage in its row too now
		w.runIs(own.ID, exec.Completed)

		lists("the group's", 1, func() { w.setBudget("group:night", 5) })
		lists("the group's again", 0, func() { w.spend(next.ID, 0.5) })
		lists("the thread's that had asked", 0, func() { w.setBudget(above.Name, 7) })
		if a := w.account("group:night"); !near(a.Spent.USD, 2*0.5+0.1+0.2+0.3+0.4+0.5) {
			t.Errorf("the group: %+v", a.Spent)
		}
		if a := w.account(above.Name); !near(a.Spent.USD, 0.5) { // the harness has no sum of what it has spent itself
			t.Errorf("the thread that asked: %+v", a.Spent)
		}

		w.reopen()
		lists("the group's, after a restart", 1, func() {
			last := w.once("last", ofGroup("night"))
			w.runIs(last.ID, exec.Running)
			if _, err := w.reserve(last.ID, 3.6); err == nil || !strings.Contains(err.Error(), "the budget of the group night has no room for this request: $1.50 + ? of $5.00") {
				t.Errorf("the group lets pass: %v", err)
			}
		})
	}, func(w *world) { withRuns(w); store.Store = w.cfg.Runs.Store; w.cfg.Runs.Store = store })
}

// What executions have spent that the store does not tell for a moment is not forgotten: a request of theirs waits, what is
// queued waits with that reason, and all of it counts once the store tells.
func TestBudgetWhileTheStoreIsAway(t *testing.T) {
	store := &listed{}
	inWorld(t, func(w *world) {
		s := w.once("one", ofGroup("night"))
		synctest.Wait()
		w.finish(s.ID, "one") // costs 0.5 by its answer
		w.setBudget("group:night", 0.5)
		w.reopen()
		store.fail.Store(true)
		next := w.once("next", ofGroup("night"))
		if x := w.runIs(next.ID, exec.Queued); !strings.Contains(x.Reason, "cannot be read") {
			t.Errorf("it waits because %q", x.Reason)
		}
		if _, err := w.m.Budgets.List(context.Background()); err == nil {
			t.Error("a report has what nobody knows")
		}
		store.fail.Store(false)
		time.Sleep(time.Minute)
		if x := w.runIs(next.ID, exec.Queued); !strings.Contains(x.Reason, "$0.50") || !strings.Contains(x.Reason, "is used up") {
			t.Errorf("it waits because %q", x.Reason)
		}
		w.setBudget("group:night", 5)
		w.runIs(next.ID, exec.Running)
	}, func(w *world) { withRuns(w); store.Store = w.cfg.Runs.Store; w.cfg.Runs.Store = store })
}

// near reports whether two prices are the same but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// What its budget has ended can have more, as the reason says, and be tried again.
func TestBudgetOfWhatFailed(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("do it", ofGroup("g", 0.5))
		synctest.Wait()
		if _, err := w.reserve(s.ID, 1); err == nil {
			t.Fatal("it may spend more than its budget")
		}
		x := w.runIs(s.ID, exec.Failed)
		w.setBudget(x.Name, 2)
		w.runIs(s.ID, exec.Failed)
		if _, err := w.m.Executions.Retry(context.Background(), x.ID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.runIs(s.ID, exec.Running)
		w.spend(s.ID, 1)
	}, withRuns)
}
