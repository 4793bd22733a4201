package wave_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	plans "orchestrator/checkpoint/plantest/memory"
	"orchestrator/checkpoint/worktest/memory"
	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// waits is tasks that wait, over a store in memory, with an engine that begins what it is told to and no more.
type waits struct {
	*testing.T
	store    *plans.Store
	record   *memory.Store
	c        wave.Config
	tasks    *wave.Tasks
	splits   *wave.Splits
	standing *wave.Standing

	mu      sync.Mutex // guards all below
	now     time.Time
	begun   []wave.RunRequest
	taken   []string
	notices []string
	changed []string
}

func newWaits(t *testing.T) *waits {
	t.Helper()
	w := &waits{T: t, now: time.Date(2025, 1, 17, 10, 0, 0, 0, time.UTC)}
	w.store, w.record = plans.New(w.clock), memory.New(w.clock)
	w.c = wave.Config{
		Store: w.store, Record: w.record, Now: w.clock, Host: "host", User: "tess", Server: "server-1", Log: slog.New(slog.DiscardHandler),
		Notice: func(_ thread.Level, text string) { w.add(&w.notices, text) }, Changed: func(task string) { w.add(&w.changed, task) },
	}
	w.splits = wave.NewSplits(w.c, w)
	w.standing = w.armedBy("server-1")
	w.tasks = wave.NewTasks(w.c, w, w.standing.Wake)
	return w
}

// armedBy returns the armed plans as one server has them.
func (w *waits) armedBy(server string) *wave.Standing {
	c := w.c
	c.Server = server
	return wave.NewStanding(c, func(_ context.Context, t plan.Task, nodes []plan.Node) {
		if len(nodes) == 0 || t.Status != plan.InProgress {
			w.Errorf("%s was taken with the nodes %v", t.Name, nodes)
		}
		w.add(&w.taken, t.Name)
	}, w.splits.Propose)
}

func (w *waits) add(list *[]string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*list = append(*list, text)
}

func (w *waits) all(list *[]string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(*list)
}

// clock goes on by a second each time it is asked.
func (w *waits) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(time.Second)
	return w.now
}

// Run begins a task as an engine does, without anything that works.
func (w *waits) Run(ctx context.Context, a wave.Author, q wave.RunRequest) (wave.View, error) {
	nodes, err := plan.Layout(q.Plan)
	if err != nil {
		return wave.View{}, err
	}
	w.mu.Lock()
	w.begun = append(w.begun, q)
	w.mu.Unlock()
	with := func(t *plan.Task) error {
		t.PlanName, t.Plan, t.Vars, t.Server = q.Plan.Name, &q.Plan, q.Vars, "server-1"
		return nil
	}
	var t plan.Task
	if q.Task != "" {
		t, err = w.store.BeginTask(ctx, q.Task, with, nodes)
	} else {
		t = plan.Task{Title: q.Title, Body: q.Body, Session: q.Session, By: a.Thread, Status: plan.InProgress}
		_ = with(&t)
		t, err = w.store.AddTask(ctx, t, nodes)
	}
	return wave.View{Task: t}, err
}

func (w *waits) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// added adds a task of the person's.
func (w *waits) added(q wave.AddRequest) plan.Task {
	w.Helper()
	t, err := w.tasks.Add(w.Context(), wave.Author{}, q)
	w.ok(err)
	return t
}

// ends has a task at work end.
func (w *waits) ends(name string, as plan.Status) {
	w.Helper()
	_, err := w.store.ChangeTask(w.Context(), name, plan.Anyway, func(t *plan.Task) error { t.Status = as; return nil })
	w.ok(err)
}

func (w *waits) status(name string) plan.Status {
	w.Helper()
	t, err := w.store.Task(w.Context(), name)
	w.ok(err)
	return t.Status
}

func names(list []plan.Task) string {
	var all []string
	for _, t := range list {
		all = append(all, t.Name)
	}
	return strings.Join(all, " ")
}

// onePlan is the plan "fix", of one agent that needs the variable x.
func onePlan() plan.Plan {
	return plan.Plan{
		Name: "fix", Agents: []plan.Agent{{Name: "a", Prompt: "{{task}} {{var.x}}"}}, Variables: map[string]plan.Variable{"x": {Type: plan.VarInteger}},
	}
}

func vars(x string) map[string]json.RawMessage {
	return map[string]json.RawMessage{"x": json.RawMessage(x)}
}

func TestTasksAreAddedAsPeopleSayThem(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	one := w.added(wave.AddRequest{Title: " Mend\tthe \x1b[31mlogin ", Body: "It says:\n\n  sk-ant-api03-" + strings.Repeat("Ab3dE", 20) + "\n", Plan: "fix"})
	stored, err := w.store.Task(t.Context(), one.Name)
	w.ok(err)
	if one.Name != "task-001" || stored.Status != plan.Pending || stored.Title != "Mend the \u241b[31mlogin" || strings.Contains(stored.Body, "Ab3dE") ||
		stored.PlanName != "fix" || stored.Host != "host" || stored.User != "tess" {
		t.Errorf("it was stored as %+v", stored)
	}
	for want, q := range map[string]wave.AddRequest{
		"the title is empty":     {Title: " \n"},
		"201 characters":         {Title: strings.Repeat("\u00e9", 201)},
		"the body has":           {Title: "x", Body: strings.Repeat("x", 300<<10)},
		"no plan can be called":  {Title: "x", Plan: "../x"},
		"is no JSON":             {Title: "x", Vars: vars("{")},
		"no work session named":  {Title: "x", Session: "nothing"},
		"there are 101 variable": {Title: "x", Vars: many(101)},
	} {
		if _, err := w.tasks.Add(t.Context(), wave.Author{}, q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if list, err := w.tasks.List(t.Context(), wave.Author{}, wave.ListRequest{}); err != nil || len(list) != 1 {
		t.Errorf("what is refused is not stored: %v, %v", names(list), err)
	}
}

func many(n int) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for i := range n {
		out[strings.Repeat("x", i+1)] = json.RawMessage("1")
	}
	return out
}

func TestVariablesAreCheckedAgainstAnArmedPlan(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	w.arm(onePlan(), 1)
	for want, given := range map[string]map[string]json.RawMessage{"has no value": nil, "no variable": many(2), "the variable x": vars(`"a"`)} {
		if _, err := w.tasks.Add(t.Context(), wave.Author{}, wave.AddRequest{Title: "x", Plan: "fix", Vars: given}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	w.added(wave.AddRequest{Title: "x", Plan: "fix", Vars: vars("7")})
	w.added(wave.AddRequest{Title: "x", Plan: "other", Vars: many(3)}) // what it needs is not known yet
}

func TestAgentsSeeAndTakeBackTheirOwnTasksOnly(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	ann, bob, reader := wave.Author{Agent: true, Thread: "a"}, wave.Author{Agent: true, Thread: "b"}, wave.Author{Agent: true, Thread: "c", Reads: true}
	hers, err := w.tasks.Add(t.Context(), ann, wave.AddRequest{Title: "hers", Proposed: true})
	w.ok(err)
	w.added(wave.AddRequest{Title: "the person's"})
	for _, c := range []struct {
		who  wave.Author
		want string
	}{{wave.Author{}, "task-002 task-001"}, {ann, "task-001"}, {bob, ""}, {reader, "task-002 task-001"}, {wave.Author{Agent: true}, ""}} {
		list, err := w.tasks.List(t.Context(), c.who, wave.ListRequest{})
		if err != nil || names(list) != c.want {
			t.Errorf("%+v sees %q, %v, want %q", c.who, names(list), err, c.want)
		}
	}
	title := "another"
	for _, q := range []wave.EditRequest{{Task: hers.Name, Title: &title}, {Task: hers.Name, Accept: true}, {Task: hers.Name, Cancel: true, Title: &title}, {Task: "task-002", Cancel: true}} {
		if _, err := w.tasks.Edit(t.Context(), ann, q); !errors.Is(err, thread.ErrNotGranted) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if _, err := w.tasks.List(t.Context(), bob, wave.ListRequest{Task: hers.Name}); !errors.Is(err, thread.ErrNotGranted) {
		t.Errorf("another agent reads it: %v", err)
	}
	if _, err := w.tasks.Edit(t.Context(), ann, wave.EditRequest{Task: hers.Name, Cancel: true}); err != nil || w.status(hers.Name) != plan.Cancelled {
		t.Errorf("she takes it back: %v, %s", err, w.status(hers.Name))
	}
	if _, err := w.tasks.Add(t.Context(), wave.Author{Agent: true}, wave.AddRequest{Title: "x"}); !errors.Is(err, thread.ErrNotGranted) {
		t.Errorf("an agent of no thread adds: %v", err)
	}
}

func TestAnAgentAddsSoManyTasksOnly(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	ann := wave.Author{Agent: true, Thread: "a"}
	var last error
	n := 0
	for ; n < 1000 && last == nil; n++ {
		_, last = w.tasks.Add(t.Context(), ann, wave.AddRequest{Title: "more"})
	}
	if !errors.Is(last, thread.ErrLimit) || n != 101 {
		t.Errorf("after %d: %v", n, last)
	}
	w.ok2(w.tasks.Edit(t.Context(), ann, wave.EditRequest{Task: "task-001", Cancel: true}))
	w.ok2(w.tasks.Add(t.Context(), ann, wave.AddRequest{Title: "in its place"}))
}

func (w *waits) ok2(_ plan.Task, err error) {
	w.Helper()
	w.ok(err)
}

func TestATaskIsEditedUntilItBegins(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	one := w.added(wave.AddRequest{Title: "first", Body: "this", Vars: vars("1"), Proposed: true})
	title, body, planName, order := "second", "that", "fix", -3
	got, err := w.tasks.Edit(t.Context(), wave.Author{}, wave.EditRequest{Task: one.Name, Title: &title, Body: &body, Plan: &planName, Order: &order})
	w.ok(err)
	if got.Title != title || got.Body != body || got.PlanName != planName || got.Order != order || string(got.Vars["x"]) != "1" || got.Status != plan.Proposed {
		t.Errorf("it became %+v", got)
	}
	w.ok2(w.tasks.Edit(t.Context(), wave.Author{}, wave.EditRequest{Task: one.Name, Vars: map[string]json.RawMessage{}, Accept: true}))
	stored, err := w.store.Task(t.Context(), one.Name)
	w.ok(err)
	if len(stored.Vars) != 0 || stored.Status != plan.Pending || stored.Title != title {
		t.Errorf("it became %+v", stored)
	}
	empty := ""
	if _, err := w.tasks.Edit(t.Context(), wave.Author{}, wave.EditRequest{Task: one.Name, Title: &empty}); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("without a title: %v", err)
	}
	if _, err := w.tasks.Edit(t.Context(), wave.Author{}, wave.EditRequest{Task: "task-404", Title: &title}); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("one that there is not: %v", err)
	}
	w.ok2(w.tasks.Start(t.Context(), wave.Author{}, wave.RunRequest{Task: one.Name, Plan: onePlan(), Vars: vars("2")}))
	if _, err := w.tasks.Edit(t.Context(), wave.Author{}, wave.EditRequest{Task: one.Name, Title: &title}); !errors.Is(err, thread.ErrRefused) || !strings.Contains(err.Error(), "in progress") {
		t.Errorf("one that has begun: %v", err)
	}
	if _, err := w.tasks.Start(t.Context(), wave.Author{}, wave.RunRequest{Task: one.Name, Plan: onePlan()}); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("it begins twice: %v", err)
	}
}

func TestATaskBeginsWithItsOwnWords(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	one := w.added(wave.AddRequest{Title: "mend it", Body: strings.Repeat("long ", 500), Vars: vars("1"), Plan: "fix"})
	if len(one.Body) > 410 {
		t.Errorf("lists have %d bytes of a body", len(one.Body))
	}
	if _, err := w.tasks.Start(t.Context(), wave.Author{}, wave.RunRequest{Task: one.Name}); err == nil || !strings.Contains(err.Error(), "no plan") {
		t.Errorf("without a plan: %v", err)
	}
	w.ok2(w.tasks.Start(t.Context(), wave.Author{}, wave.RunRequest{Task: one.ID, Plan: onePlan(), Vars: vars("5"), Title: "not this", MaxParallel: 2}))
	got := w.begun[0]
	if got.Task != one.Name || got.Title != "mend it" || len(got.Body) < 2000 || string(got.Vars["x"]) != "5" || got.MaxParallel != 2 {
		t.Errorf("it began with %+v", got)
	}
}

func TestATaskBeginsWithItsArmedPlan(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	w.arm(onePlan(), 1)
	one := w.added(wave.AddRequest{Title: "mend it", Vars: vars("1"), Plan: "fix"})
	w.ok2(w.tasks.Start(t.Context(), wave.Author{}, wave.RunRequest{Task: one.Name}))
	if len(w.begun) != 1 || w.begun[0].Plan.Agents[0].Name != "a" {
		t.Errorf("it began with %+v", w.begun)
	}
}

func TestTasksOfAWorkSession(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	s, err := w.record.AddSession(t.Context(), work.Session{Scope: "all"})
	w.ok(err)
	one := w.added(wave.AddRequest{Title: "in it", Session: s.Name})
	w.added(wave.AddRequest{Title: "beside it"})
	list, err := w.tasks.List(t.Context(), wave.Author{}, wave.ListRequest{Session: s.Name})
	if err != nil || names(list) != one.Name {
		t.Errorf("%s has %q, %v", s.Name, names(list), err)
	}
	if _, err := w.tasks.Add(t.Context(), wave.Author{Agent: true, Thread: "a"}, wave.AddRequest{Title: "x", Session: s.Name}); !errors.Is(err, thread.ErrNotGranted) {
		t.Errorf("an agent adds to a session of others: %v", err)
	}
}
