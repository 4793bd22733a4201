package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	exec "orchestrator/thread/work"
)

// An execution that the policy of its work session has wait for a person stays queued. Its thread asks meanwhile: the same
// keys and verbs answer as for what agents ask.

// The answers to what such a thread asks, in their order.
const (
	answerStart = iota
	answerStartAll
	answerNever
)

// proposals asks about the executions of an open list that wait for a person, and says why they wait.
func (d *dispatcher) proposals(open []exec.Execution) (asked map[exec.ID]*thread.Question, why map[exec.ID]string) {
	asked, why = map[exec.ID]*thread.Question{}, map[exec.ID]string{}
	for _, x := range open {
		if x.State != exec.Queued || x.Session == "" {
			continue
		}
		s, err := d.sessions.of(d.work.ctx, x.Session)
		switch {
		case errors.Is(err, thread.ErrNotFound):
		case err != nil:
			why[x.ID] = reason(err)
		case s.Status.Final() && x.Attempt == 0:
			why[x.ID] = fmt.Sprintf("its work session %s is %s", s.Name, s.Status)
		case s.Approval.Waits(x):
			asked[x.ID] = d.proposal(x, s)
			why[x.ID] = "proceed? waits for you, by the policy " + string(cmp.Or(s.Approval, exec.ApproveSuggest)) + " of " + s.Name
		}
	}
	return asked, why
}

// proposal asks whether an execution may start: what it is, what it would cost, and what is left of the budget.
func (d *dispatcher) proposal(x exec.Execution, s exec.Session) *thread.Question {
	name := x.Name
	if x.Type != "" {
		name += " (" + x.Type + ")"
	}
	about := []string{name}
	if x.Scope != "" {
		about[0] += ": " + line(x.Scope)
	}
	about = append(about, d.wouldCost(x))
	if s.Budget.Set() {
		p, err := d.sessions.payer(d.work.ctx, s.Name)
		var a budget.Account
		if err == nil {
			a, err = d.budgets.books.Account(p)
		}
		if err == nil {
			about = append(about, fmt.Sprintf("%s left of %s", budget.Left(a.Limit, a.Spent), s.Name))
		}
	}
	return &thread.Question{
		ID: "proceed-" + string(x.ID), Kind: thread.QuestionPermission, Text: "proceed?", About: strings.Join(about, "; "), Since: x.Created,
		Choices: []thread.Choice{
			answerStart:    {Text: "start it", Means: thread.Approve},
			answerStartAll: {Text: "start it, and all that follows in " + s.Name + " (policy auto)", Means: thread.ApproveAlways},
			answerNever:    {Text: "cancel it", Means: thread.Deny},
		},
	}
}

// wouldCost says what the first request of an execution takes: what it is given, and an answer as they usually are. What its
// CLI adds itself is not known before it starts.
func (d *dispatcher) wouldCost(x exec.Execution) string {
	model := x.Model
	if l := d.registry.loaded(x.Thread); l != nil && model == "" {
		t := l.live.thread()
		model = cmp.Or(t.Model, t.Gauge.Model)
	}
	out := d.budgets.books.Expects(model)
	said := fmt.Sprintf("at least %s tokens and an answer of about %s", thread.Tokens(x.Context), thread.Tokens(out))
	if d.cfg.Models == nil || model == "" {
		return said + ", price unknown"
	}
	usd, known := d.cfg.Models.Cost(model, thread.Usage{Input: x.Context, Output: out})
	if !known {
		return said + ", price unknown"
	}
	return said + ", " + thread.USD(usd)
}

// proceed answers what a thread asks about an execution that waits.
func (m *Questions) proceed(ctx context.Context, l *run, r thread.AnswerRequest) (thread.Status, error) {
	fail := func(err error) (thread.Status, error) {
		return thread.Status{}, fmt.Errorf("answer %s: %w", l.live.thread().Name, err)
	}
	x, q := l.open.asked(l.live.id)
	switch {
	case q == nil:
		return fail(thread.ErrNotRunning)
	case q.ID != r.Question:
		return fail(thread.Kindf(thread.ErrRefused, "it asks something else now"))
	}
	choice, err := r.Chosen(*q)
	if err != nil {
		return fail(err)
	}
	if choice == answerNever {
		why := cmp.Or(line(r.Text), "a person did not agree")
		if _, err := m.executions.Cancel(ctx, x.ID, why); err != nil {
			return fail(err)
		}
		return l.live.current(), nil
	}
	if choice == answerStartAll {
		err := m.sessions.change(ctx, x.Session, func(s *exec.Session) error { s.Approval = exec.ApproveAuto; return nil })
		if err != nil {
			return fail(err)
		}
	}
	if _, err := l.open.change(ctx, x.ID, x.Fence, func(x *exec.Execution) error {
		if x.State != exec.Queued {
			return thread.Kindf(thread.ErrRefused, "%s is %s", x.Name, x.State)
		}
		x.Agreed = true
		return nil
	}); err != nil {
		return fail(err)
	}
	return l.live.current(), nil
}
