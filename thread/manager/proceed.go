package manager

import (
	"cmp"
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

// proposer asks about executions that wait for a person.
type proposer struct {
	cfg      *Config
	work     *work
	registry *registry
	sessions *workSessions
	books    *budget.Books
}

// ask asks about the executions of an open list that wait for a person, and says why they wait.
func (m *proposer) ask(open []exec.Execution) (asked map[exec.ID]*thread.Question, why map[exec.ID]string) {
	asked, why = map[exec.ID]*thread.Question{}, map[exec.ID]string{}
	for _, x := range open {
		if x.State != exec.Queued || x.Session == "" {
			continue
		}
		s, err := m.sessions.of(m.work.ctx, x.Session)
		switch {
		case errors.Is(err, thread.ErrNotFound):
		case err != nil:
			why[x.ID] = reason(err)
		case s.Status.Final() && x.Attempt == 0:
			why[x.ID] = fmt.Sprintf("its work session %s is %s", s.Name, s.Status)
		case s.Approval.Waits(x):
			asked[x.ID] = m.proposal(x, s)
			why[x.ID] = "proceed? waits for you, by the policy " + string(cmp.Or(s.Approval, exec.ApproveSuggest)) + " of " + s.Name
		}
	}
	return asked, why
}

// proposal asks whether an execution may start: what it is, what it would cost, and what is left of the budget.
func (m *proposer) proposal(x exec.Execution, s exec.Session) *thread.Question {
	name := x.Name
	if x.Type != "" {
		name += " (" + x.Type + ")"
	}
	about := []string{name}
	if x.Scope != "" {
		about[0] += ": " + line(x.Scope)
	}
	about = append(about, m.wouldCost(x))
	if s.Budget.Set() {
		p, err := m.sessions.payer(m.work.ctx, s.Name)
		var a budget.Account
		if err == nil {
			a, err = m.books.Account(p)
		}
		if err == nil {
			about = append(about, fmt.Sprintf("%s left of %s", budget.Left(a.Limit, a.Spent), s.Name))
		}
	}
	return &thread.Question{
		ID: thread.ProceedID(string(x.ID)), Kind: thread.QuestionPermission, Text: "proceed?", About: strings.Join(about, "; "), Since: x.Created,
		Choices: []thread.Choice{
			answerStart:    {Text: "start it", Means: thread.Approve},
			answerStartAll: {Text: "start it, and all that follows in " + s.Name + " (policy auto)", Means: thread.ApproveAlways},
			answerNever:    {Text: "cancel it", Means: thread.Deny},
		},
	}
}

// wouldCost says what the first request of an execution takes: what it is given, and an answer as they usually are. What its
// CLI adds itself is not known before it starts.
func (m *proposer) wouldCost(x exec.Execution) string {
	model := x.Model
	if l := m.registry.loaded(x.Thread); l != nil && model == "" {
		t := l.live.thread()
		model = cmp.Or(t.Model, t.Gauge.Model)
	}
	out := m.books.Expects(model)
	said := fmt.Sprintf("at least %s tokens and an answer of about %s", thread.Tokens(x.Context), thread.Tokens(out))
	if m.cfg.Models == nil || model == "" {
		return said + ", price unknown"
	}
	usd, known := m.cfg.Models.Cost(model, thread.Usage{Input: x.Context, Output: out})
	if !known {
		return said + ", price unknown"
	}
	return said + ", " + thread.USD(usd)
}
