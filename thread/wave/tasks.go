package wave

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// Tasks are the use cases of tasks that have not begun: they are added, listed, changed, and begun by a person's word.
type Tasks struct {
	c     Config
	start Starter
	// added tells the armed plans that there may be something to take.
	added func()
}

// NewTasks returns the use cases. added must not block.
func NewTasks(c Config, start Starter, added func()) *Tasks {
	return &Tasks{c: c.filled(), start: start, added: added}
}

// What one agent may add, and how much of a body lists have.
const (
	maxWaiting = 100 // tasks of one agent that have not begun
	maxListed  = 400 // bytes of a body
)

// Add adds a task that waits. What an agent adds is its own: others' agents do not see it.
func (t *Tasks) Add(ctx context.Context, a Author, q AddRequest) (plan.Task, error) {
	one := plan.Task{
		Status: plan.Pending, Order: q.Order, By: a.Thread, Host: t.c.Host, User: t.c.User, Created: t.c.Now(), Updated: t.c.Now(),
	}
	if q.Proposed {
		one.Status = plan.Proposed
	}
	if err := t.mayAdd(ctx, a); err != nil {
		return plan.Task{}, err
	}
	var err error
	if one.Title, err = titleOf(q.Title); err != nil {
		return plan.Task{}, err
	}
	if one.Body, err = bodyOf(q.Body); err != nil {
		return plan.Task{}, err
	}
	if one.PlanName, err = planNameOf(q.Plan); err != nil {
		return plan.Task{}, err
	}
	if one.Vars, err = t.vars(ctx, one.PlanName, q.Vars); err != nil {
		return plan.Task{}, err
	}
	if one.Session, err = t.session(ctx, a, q.Session); err != nil {
		return plan.Task{}, err
	}
	made, err := t.c.Store.AddTask(ctx, one, nil)
	if err == nil {
		t.changed(made)
	}
	return brief(made), err
}

// changed tells whom a change of a waiting task may concern.
func (t *Tasks) changed(one plan.Task) {
	t.c.Changed(one.Name)
	if one.Status == plan.Pending {
		t.added()
	}
}

// mayAdd bounds what one agent adds.
func (t *Tasks) mayAdd(ctx context.Context, a Author) error {
	if !a.Agent {
		return nil
	}
	if a.Thread == "" {
		return thread.Hint(thread.Kindf(thread.ErrNotGranted, "an agent that is in no thread of this project adds no tasks here"),
			"start it with `orchestrator new` or `orchestrator run`")
	}
	own, err := t.c.Store.Tasks(ctx, plan.TaskQuery{By: a.Thread, Statuses: waiting(), Limit: maxWaiting})
	if err == nil && len(own) >= maxWaiting {
		err = thread.Hint(thread.Kindf(thread.ErrLimit, "%d tasks that this agent has added have not begun: it may not add more", len(own)),
			"the user can start or cancel some: `orchestrator task list`")
	}
	return err
}

// session returns the name of a work session that somebody may add to.
func (t *Tasks) session(ctx context.Context, a Author, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	s, err := t.c.Record.Session(ctx, name)
	switch {
	case errors.Is(err, thread.ErrNotFound):
		return "", work.UnknownSession(name, nil)
	case err != nil:
		return "", err
	case a.Agent && !s.Admits(a.Thread, ""):
		return "", thread.Hint(thread.Kindf(thread.ErrNotGranted, "the work session %s is another's", s.Name), "leave it out, or begin one of your own")
	}
	return s.Name, s.Open()
}

// vars returns variables as they are stored, checked against the plan where that is known here: it is armed.
func (t *Tasks) vars(ctx context.Context, planName string, given map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	vars, err := varsOf(given)
	if err != nil || planName == "" {
		return vars, err
	}
	armed, ok, err := armedPlan(ctx, t.c.Store, planName)
	if err != nil || !ok {
		return vars, err
	}
	return vars, checkVars(armed.Plan, vars)
}

// List returns tasks, newest first, with the beginnings of their bodies. An agent that may not read what others do sees
// its own.
func (t *Tasks) List(ctx context.Context, a Author, q ListRequest) ([]plan.Task, error) {
	if q.Task != "" {
		one, err := seenTask(ctx, t.c.Store, a, q.Task)
		if err != nil {
			return nil, err
		}
		one.Plan = nil
		return []plan.Task{one}, nil
	}
	query := plan.TaskQuery{Statuses: q.Statuses, Plan: q.Plan, Session: q.Session, Before: q.Before, Limit: q.Limit}
	if !seesAll(a) {
		if a.Thread == "" {
			return []plan.Task{}, nil
		}
		query.By = a.Thread
	}
	if q.Of != "" {
		by, err := t.proposer(ctx, a, q.Of)
		if err != nil || by == "" {
			return []plan.Task{}, err
		}
		query.By = by
	}
	list, err := t.c.Store.Tasks(ctx, query)
	if err != nil {
		return nil, err
	}
	out := make([]plan.Task, 0, len(list))
	for _, one := range list {
		out = append(out, brief(one))
	}
	return out, nil
}

// proposer returns the thread whose agent split a text, "" before it has begun.
func (t *Tasks) proposer(ctx context.Context, a Author, ref string) (thread.ID, error) {
	one, err := seenTask(ctx, t.c.Store, a, ref)
	if err != nil {
		return "", err
	}
	if one.PlanName != splitPlan {
		return "", thread.Hint(thread.Kindf(thread.ErrInvalid, "%s splits nothing", one.Name), "`orchestrator task split` does")
	}
	n, err := t.c.Store.Node(ctx, one.Name, splitAgent)
	return n.Thread, err
}

// brief is a task as lists have it.
func brief(one plan.Task) plan.Task {
	one.Plan = nil
	if len(one.Body) > maxListed {
		one.Body = plaintext.Cut(one.Body, maxListed) + "\u2026"
	}
	return one
}

// Edit changes a task that has not begun. An agent takes back what it has added, and changes nothing else: what a person has
// read stays what they read.
func (t *Tasks) Edit(ctx context.Context, a Author, q EditRequest) (plan.Task, error) {
	one, err := seenTask(ctx, t.c.Store, a, q.Task)
	if err != nil {
		return plan.Task{}, err
	}
	if a.Agent && (!own(a, one) || !q.Cancel || q.Title != nil || q.Body != nil || q.Plan != nil || q.Vars != nil || q.Order != nil || q.Accept) {
		return plan.Task{}, thread.Hint(thread.Kindf(thread.ErrNotGranted, "an agent cancels the tasks that it has added, and changes no others"),
			"cancel it and add another, or ask the user")
	}
	change, err := t.edited(ctx, one, q)
	if err != nil {
		return plan.Task{}, err
	}
	made, err := t.c.Store.ChangeTask(ctx, one.Name, one.Fence, func(stored *plan.Task) error {
		if err := hasNotBegun(*stored); err != nil {
			return err
		}
		change(stored)
		stored.Updated = t.c.Now()
		return nil
	})
	if errors.Is(err, work.ErrFence) {
		err = thread.Hint(thread.Kindf(thread.ErrRefused, "%s has begun at this moment", one.Name), "`orchestrator wave status "+one.Name+"` shows it")
	}
	if err == nil {
		t.changed(made)
	}
	return brief(made), err
}

// edited checks a change, and returns what makes it.
func (t *Tasks) edited(ctx context.Context, one plan.Task, q EditRequest) (change func(*plan.Task), err error) {
	if q.Title != nil {
		if one.Title, err = titleOf(*q.Title); err != nil {
			return nil, err
		}
	}
	if q.Body != nil {
		if one.Body, err = bodyOf(*q.Body); err != nil {
			return nil, err
		}
	}
	if q.Plan != nil {
		if one.PlanName, err = planNameOf(*q.Plan); err != nil {
			return nil, err
		}
	}
	vars := one.Vars
	if q.Vars != nil {
		vars = q.Vars
	}
	if q.Plan != nil || q.Vars != nil || q.Accept {
		if vars, err = t.vars(ctx, one.PlanName, vars); err != nil {
			return nil, err
		}
	}
	return func(stored *plan.Task) {
		stored.Title, stored.Body, stored.PlanName, stored.Vars = one.Title, one.Body, one.PlanName, vars
		if q.Order != nil {
			stored.Order = *q.Order
		}
		switch {
		case q.Cancel:
			stored.Status, stored.Reason, stored.Ended = plan.Cancelled, "cancelled before it began", t.c.Now()
		case q.Accept:
			stored.Status, stored.Reason = plan.Pending, ""
		}
	}, nil
}

// Start begins a task that has not begun, with the plan of the request; without one with that of its name that is armed.
func (t *Tasks) Start(ctx context.Context, a Author, q RunRequest) (plan.Task, error) {
	one, err := seenTask(ctx, t.c.Store, a, q.Task)
	if err == nil {
		err = hasNotBegun(one)
	}
	if err != nil {
		return plan.Task{}, err
	}
	if len(q.Plan.Agents) == 0 {
		armed, ok, err := armedPlan(ctx, t.c.Store, one.PlanName)
		switch {
		case err != nil:
			return plan.Task{}, err
		case one.PlanName == "" || !ok:
			return plan.Task{}, thread.Hint(thread.Kindf(thread.ErrInvalid, "%s begins with no plan", one.Name), "name one: `orchestrator task start "+one.Name+" --plan NAME`")
		}
		q.Plan = armed.Plan
	}
	vars, err := varsOf(q.Vars)
	if err != nil {
		return plan.Task{}, err
	}
	q.Vars = maps.Clone(one.Vars)
	for name, v := range vars {
		if q.Vars == nil {
			q.Vars = map[string]json.RawMessage{}
		}
		q.Vars[name] = v
	}
	q.Task, q.Title, q.Body, q.Session = one.Name, one.Title, one.Body, one.Session
	v, err := t.start.Run(ctx, a, q)
	return v.Task, err
}
