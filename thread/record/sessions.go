package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Sessions are work sessions and their tasks.
type Sessions struct{ c Config }

// InitSession begins a work session.
type InitSession struct {
	Scope string `json:"scope"`
	Name  string `json:"session_id,omitempty"` // the person's choice; "" for the next number
	// Policy and Budget are the person's alone: they say what may be spent without asking.
	Policy   work.Approval   `json:"policy,omitempty"`
	Budget   thread.Budget   `json:"budget,omitzero"`
	WarnAt   float64         `json:"warn_at,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// SessionAnswer is a work session after a change.
type SessionAnswer struct {
	work.Session
	Warnings []string `json:"warnings,omitempty"`
	// Open are executions by hand of a work session that has ended, which nobody has completed.
	Open []string `json:"open_executions,omitempty"`
}

// Init begins a work session, in its first phase.
func (s *Sessions) Init(ctx context.Context, a Author, q InitSession) (SessionAnswer, error) {
	if err := s.c.mayRecord(ctx, a, len(q.Scope)+len(q.Metadata)); err != nil {
		return SessionAnswer{}, err
	}
	scope := line(q.Scope)
	warning, err := work.CheckScope(scope)
	if err == nil && q.Name != "" {
		err = work.CheckOwnName(q.Name)
	}
	if err == nil {
		err = checkPolicy(a, q)
	}
	var metadata json.RawMessage
	if err == nil {
		metadata, err = object(q.Metadata)
	}
	if err != nil {
		return SessionAnswer{}, err
	}
	now := s.c.Now()
	one := work.Session{
		Name: q.Name, Created: now, Updated: now, Scope: scope, Phase: work.PhaseAnalyze, Status: work.SessionPlanning, Metadata: metadata,
		Approval: q.Policy, Budget: q.Budget.Clone(), WarnAt: q.WarnAt, By: a.Thread, Host: s.c.Host, User: s.c.User,
	}
	if one.Approval == "" {
		one.Approval = work.ApproveSuggest
	}
	made, err := s.c.Store.AddSession(ctx, one)
	if errors.Is(err, thread.ErrNameTaken) {
		err = thread.Hint(thread.Kindf(thread.ErrNameTaken, "there is a work session %s already", q.Name),
			"go on with it, or choose another name")
	}
	return SessionAnswer{Session: made, Warnings: warned(warning)}, err
}

// checkPolicy refuses a policy or a budget that there is not, and any of an agent's.
func checkPolicy(a Author, q InitSession) error {
	if a.Agent && (q.Policy != "" || q.Budget.Set() || q.WarnAt != 0) {
		return thread.Hint(thread.Kindf(thread.ErrNotGranted, "only the user says what a work session may spend, and whether it asks before"),
			"leave out the policy and the budget")
	}
	switch b := q.Budget; {
	case q.Policy != "" && !slices.Contains(work.Approvals(), q.Policy):
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "policy %q is not known", thread.Excerpt(string(q.Policy))), "take manual, suggest or auto")
	case b.Tokens != nil && *b.Tokens < 0, b.USD != nil && (*b.USD < 0 || math.IsNaN(*b.USD) || math.IsInf(*b.USD, 0)):
		return thread.Kindf(thread.ErrInvalid, "a budget is 0 or more")
	case q.WarnAt < 0 || q.WarnAt > 1 || math.IsNaN(q.WarnAt):
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "the part of the budget to warn at is between 0 and 1"), "0.75 is usual")
	}
	return nil
}

// PhaseSession moves a work session to a phase.
type PhaseSession struct {
	Session string     `json:"session_id"`
	Phase   work.Phase `json:"phase"`
}

// SetPhase moves a work session to a phase, forward or back. Its state follows.
func (s *Sessions) SetPhase(ctx context.Context, a Author, q PhaseSession) (SessionAnswer, error) {
	begun, err := s.c.Store.Recorded(ctx, work.RecordQuery{Session: q.Session, Limit: 1, States: begun()})
	if err != nil {
		return SessionAnswer{}, err
	}
	changed, err := s.c.changeSession(ctx, a, q.Session, func(w *work.Session, _ time.Time) error { return w.At(q.Phase, len(begun) > 0) })
	return SessionAnswer{Session: changed}, err
}

// begun are the states of executions that are no longer queued.
func begun() []work.State {
	return slices.DeleteFunc(work.States(), func(s work.State) bool { return s == work.Queued })
}

// CompleteSession ends a work session.
type CompleteSession struct {
	Session string             `json:"session_id"`
	Status  work.SessionStatus `json:"status,omitempty"` // completed if empty
}

// Complete ends a work session. Executions by hand that nobody has completed are named; they can still be.
func (s *Sessions) Complete(ctx context.Context, a Author, q CompleteSession) (SessionAnswer, error) {
	if q.Status == "" {
		q.Status = work.SessionCompleted
	}
	changed, err := s.c.changeSession(ctx, a, q.Session, func(w *work.Session, now time.Time) error { return w.End(q.Status, now) })
	if err != nil {
		return SessionAnswer{}, err
	}
	out := SessionAnswer{Session: changed}
	open, err := s.c.Store.Recorded(ctx, work.RecordQuery{
		Session: changed.Name, Kinds: []work.Kind{work.KindHand}, States: work.OpenStates(), Seen: a.seen(), Limit: mostOpen,
	})
	if err != nil {
		out.Warnings = warned(fmt.Sprintf("which executions of it are open is not known: %v", err)) // it has ended all the same
		return out, nil
	}
	for _, x := range slices.Backward(open) {
		out.Open = append(out.Open, x.Name)
	}
	return out, nil
}

// mostOpen is how many open executions are named.
const mostOpen = 100

// changeSession changes a work session that an author may change.
func (c Config) changeSession(ctx context.Context, a Author, name string, change func(*work.Session, time.Time) error) (work.Session, error) {
	if err := c.mayRecord(ctx, a, 0); err != nil {
		return work.Session{}, err
	}
	s, err := c.Store.ChangeSession(ctx, name, func(w *work.Session) error {
		if err := a.changes(w.By, "the work session "+w.Name); err != nil {
			return err
		}
		now := c.Now()
		w.Updated = now
		return change(w, now)
	})
	return s, c.unknownSession(ctx, a, name, err)
}

// unknownSession has the error for a work session that there is not name those that are near.
func (c Config) unknownSession(ctx context.Context, a Author, name string, err error) error {
	if !errors.Is(err, thread.ErrNotFound) {
		return err
	}
	var names []string
	if list, err := (&Sessions{c}).List(ctx, a, QuerySessions{}); err == nil {
		for _, s := range list {
			names = append(names, s.Name)
		}
	}
	return work.UnknownSession(name, names)
}

// QuerySessions selects work sessions.
type QuerySessions struct {
	Statuses []work.SessionStatus `json:"status,omitempty"` // none for all
	Before   string               `json:"before,omitempty"` // only older ones than this
	Limit    int                  `json:"limit,omitempty"`  // 100 when 0
}

// List returns work sessions, newest first: of an agent those that it began.
func (s *Sessions) List(ctx context.Context, a Author, q QuerySessions) ([]work.Session, error) {
	query := work.SessionQuery{Statuses: q.Statuses, Before: q.Before, Limit: q.Limit}
	if !a.all() {
		if a.Thread == "" {
			return []work.Session{}, nil
		}
		query.By = a.Thread
	}
	list, err := s.c.Store.Sessions(ctx, query)
	if list == nil {
		list = []work.Session{}
	}
	return list, err
}
