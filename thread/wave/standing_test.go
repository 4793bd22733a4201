package wave_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/ground/await"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
)

func (w *waits) arm(p plan.Plan, atOnce int) wave.StandingPlan {
	w.Helper()
	s, err := w.standing.Arm(w.Context(), wave.Author{}, wave.ArmRequest{Plan: &p, On: true, AtOnce: atOnce})
	w.ok(err)
	return s
}

// goes has armed plans take tasks until the test's end, or until what it returns is called.
func (w *waits) goes(s *wave.Standing) (stop func()) {
	ctx, cancel := context.WithCancel(w.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Run(ctx); err != nil {
			w.Error(err)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	w.Cleanup(stop)
	return stop
}

// takes waits until so many tasks were taken.
func (w *waits) takes(n int) []string {
	w.Helper()
	await.Until(w.T, "tasks that are taken", func() bool { return len(w.all(&w.taken)) >= n })
	return w.all(&w.taken)
}

func TestAnArmedPlanTakesTasksAsTheyCome(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	w.goes(w.standing)
	p := onePlan()
	p.Variables = nil
	w.added(wave.AddRequest{Title: "before", Plan: "fix"})
	w.added(wave.AddRequest{Title: "proposed", Plan: "fix", Proposed: true})
	w.added(wave.AddRequest{Title: "of another", Plan: "other"})
	w.added(wave.AddRequest{Title: "of none"})
	w.arm(p, 2)
	w.takes(1)
	second := w.added(wave.AddRequest{Title: "after", Plan: "fix"})
	w.takes(2)
	third := w.added(wave.AddRequest{Title: "third", Plan: "fix", Order: 1})
	fourth := w.added(wave.AddRequest{Title: "urgent", Plan: "fix", Order: -1})
	if got := w.takes(2); !slices.Equal(got, []string{"task-001", second.Name}) {
		t.Errorf("two at once: %v", got)
	}
	w.ends("task-001", plan.Complete)
	w.standing.Wake()
	w.ends(second.Name, plan.Complete)
	w.standing.Wake()
	if got := w.takes(4); !slices.Equal(got[2:], []string{fourth.Name, third.Name}) {
		t.Errorf("the urgent one goes first: %v", got)
	}
	one, err := w.store.Task(t.Context(), fourth.Name)
	w.ok(err)
	if one.Status != plan.InProgress || one.Plan == nil || one.Hash == "" || one.Server != "server-1" {
		t.Errorf("it was taken as %+v", one)
	}
	for _, name := range []string{"task-002", "task-003", "task-004"} {
		if s := w.status(name); s.Final() || s == plan.InProgress {
			t.Errorf("%s is %s", name, s)
		}
	}
}

func TestTwoServersTakeEachTaskOnce(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	p := onePlan()
	p.Variables = nil
	w.arm(p, plan.MaxAtOnce)
	other := w.armedBy("server-2")
	w.goes(w.standing)
	w.goes(other)
	for i := range 40 {
		w.added(wave.AddRequest{Title: fmt.Sprint("task ", i), Plan: "fix"})
		other.Wake()
	}
	got := w.takes(40)
	slices.Sort(got)
	if len(slices.Compact(got)) != 40 {
		t.Errorf("taken: %v", got)
	}
}

func TestARestartGoesOn(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	p := onePlan()
	p.Variables = nil
	stop := w.goes(w.standing)
	w.arm(p, 1)
	w.added(wave.AddRequest{Title: "one", Plan: "fix"})
	w.takes(1)
	stop()
	w.added(wave.AddRequest{Title: "two", Plan: "fix"})
	w.ends("task-001", plan.Complete)
	w.goes(w.armedBy("server-1"))
	if got := w.takes(2); !slices.Equal(got, []string{"task-001", "task-002"}) {
		t.Errorf("taken: %v", got)
	}
}

func TestADisarmedPlanTakesNoMore(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	w.goes(w.standing)
	p := onePlan()
	p.Variables = nil
	armed := w.arm(p, 3)
	w.added(wave.AddRequest{Title: "one", Plan: "fix"})
	w.takes(1)
	off, err := w.standing.Arm(t.Context(), wave.Author{}, wave.ArmRequest{Name: "fix"})
	w.ok(err)
	if off.On || w.status("task-001") != plan.InProgress || !slices.Equal(off.AtWork, []string{"task-001"}) {
		t.Errorf("what is at work goes on: %+v", off)
	}
	w.added(wave.AddRequest{Title: "two", Plan: "fix"})
	again, err := w.standing.Arm(t.Context(), wave.Author{}, wave.ArmRequest{Name: "fix", On: true})
	w.ok(err)
	if again.Hash != armed.Hash || again.AtOnce != 3 || !again.On || len(w.all(&w.taken)) < 1 {
		t.Errorf("it is armed again as it was: %+v", again)
	}
	w.takes(2)
	for want, q := range map[string]wave.ArmRequest{
		"no plan named":   {Name: "nothing"},
		"These were: fix": {Name: "nothing", On: true},
		"1 to 50":         {Name: "fix", On: true, AtOnce: 51},
		"0 agents":        {Plan: &plan.Plan{Name: "empty"}, On: true},
		"can be called":   {Plan: &plan.Plan{Name: "a b", Agents: p.Agents}, On: true},
	} {
		if _, err := w.standing.Arm(t.Context(), wave.Author{}, q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := w.standing.Arm(t.Context(), wave.Author{Agent: true, Thread: "a"}, wave.ArmRequest{Name: "fix"}); err == nil {
		t.Error("an agent disarms it")
	}
}

func TestAFailingPlanDoesNotBurnThroughTheQueue(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	w.goes(w.standing)
	p := onePlan()
	p.Variables = nil
	for i := range 8 {
		w.added(wave.AddRequest{Title: fmt.Sprint("task ", i), Plan: "fix"})
	}
	w.arm(p, 1)
	for i := 1; i <= 3; i++ {
		w.takes(i)
		w.ends(w.all(&w.taken)[i-1], plan.Failed)
		w.standing.Wake()
	}
	await.Until(t, "a notice", func() bool { return len(w.all(&w.notices)) > 0 })
	if got := w.all(&w.notices)[0]; !strings.Contains(got, "3 tasks in a row have failed, the last one task-003") || !strings.Contains(got, "wave arm fix") {
		t.Errorf("people are told %q", got)
	}
	list, err := w.standing.Armed(t.Context(), wave.Author{})
	w.ok(err)
	if len(list) != 1 || list[0].Paused == "" || list[0].Pending != 5 || len(list[0].AtWork) != 0 {
		t.Errorf("it stands as %+v", list)
	}
	// Another server, and this one after a restart, find the same.
	other := w.armedBy("server-2")
	w.goes(other)
	w.added(wave.AddRequest{Title: "one more", Plan: "fix"})
	await.Until(t, "a notice", func() bool { return len(w.all(&w.notices)) == 2 })
	if got := w.all(&w.taken); len(got) != 3 {
		t.Errorf("taken: %v", got)
	}
	if _, err := w.standing.Arm(t.Context(), wave.Author{}, wave.ArmRequest{Name: "fix", On: true}); err != nil {
		t.Fatal(err)
	}
	w.takes(4)
}

func TestATaskThatItsPlanCannotTakeWaitsForAPerson(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	w.added(wave.AddRequest{Title: "without x", Plan: "fix"})
	w.added(wave.AddRequest{Title: "with x", Plan: "fix", Vars: vars("1")})
	w.goes(w.standing)
	w.arm(onePlan(), 1)
	if got := w.takes(1); !slices.Equal(got, []string{"task-002"}) {
		t.Errorf("taken: %v", got)
	}
	one, err := w.store.Task(t.Context(), "task-001")
	w.ok(err)
	if one.Status != plan.Proposed || !strings.Contains(one.Reason, "x has no value") {
		t.Errorf("it is %s: %s", one.Status, one.Reason)
	}
	if got := w.all(&w.notices); len(got) != 1 || !strings.Contains(got[0], "task edit task-001") {
		t.Errorf("people are told %q", got)
	}
	w.ok2(w.tasks.Edit(t.Context(), wave.Author{}, wave.EditRequest{Task: "task-001", Vars: vars("2"), Accept: true}))
	w.ends("task-002", plan.Complete)
	w.standing.Wake()
	w.takes(2)
}

func TestTwoArmedPlansOnOneFileSetAreAskedAbout(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	writes := func(name string, patterns ...string) *plan.Plan {
		return &plan.Plan{Name: name, Agents: []plan.Agent{{Name: "a", Writes: patterns}}}
	}
	w.arm(*writes("docs", "docs/**"), 1)
	w.arm(*writes("code", "src/**"), 1)
	q := wave.ArmRequest{Plan: writes("more", "docs/api/*.md"), On: true}
	asked, err := w.standing.Arm(t.Context(), wave.Author{}, q)
	w.ok(err)
	if len(asked.Asks) != 1 || asked.Asks[0].Level != plan.Ask || !strings.Contains(asked.Asks[0].Text, "the plan docs") {
		t.Errorf("asked: %+v", asked.Asks)
	}
	if list, _ := w.standing.Armed(t.Context(), wave.Author{}); len(list) != 2 {
		t.Errorf("it is armed without a yes: %+v", list)
	}
	q.Agreed = true
	if got, err := w.standing.Arm(t.Context(), wave.Author{}, q); err != nil || !got.On || len(got.Asks) > 0 {
		t.Errorf("with a yes: %+v, %v", got, err)
	}
	if _, err := w.standing.Arm(t.Context(), wave.Author{}, wave.ArmRequest{Name: "docs"}); err != nil {
		t.Errorf("disarming asks nothing: %v", err)
	}
}

func TestAStoreThatIsAwayIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	p := onePlan()
	p.Variables = nil
	w.arm(p, 1)
	away := &awayStore{Store: w.store}
	away.is.Store(true)
	w.c.Store = away
	s := w.armedBy("server-1")
	w.goes(s)
	w.added(wave.AddRequest{Title: "one", Plan: "fix"})
	s.Wake()
	await.Until(t, "the store to be asked", func() bool { return away.asked.Load() > 0 })
	away.is.Store(false)
	w.takes(1)
}

// awayStore is a store that cannot be reached for a while.
type awayStore struct {
	plan.Store
	is    atomic.Bool
	asked atomic.Int64
}

func (s *awayStore) TakeTask(
	ctx context.Context, name, server string, at time.Time, nodes func(plan.Task) ([]plan.Node, error),
) (plan.Task, bool, error) {
	if s.is.Load() {
		s.asked.Add(1)
		return plan.Task{}, false, thread.ErrUnreachable
	}
	return s.Store.TakeTask(ctx, name, server, at, nodes)
}
