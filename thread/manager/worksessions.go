package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	"orchestrator/thread/manager/events"
	exec "orchestrator/thread/work"
)

// workSessions knows the work sessions that executions belong to: their policies and budgets. It keeps the status of their
// tasks as the executions of those are, and tells clients of changes of the record.
type workSessions struct {
	cfg    *Config
	bus    *events.Bus
	work   *work
	record exec.Record // nil without one
	store  thread.Store
	// changed is called when policies and budgets may be other ones. Set once, before Open.
	changed func()

	mu      sync.Mutex // guards all below; held for moments
	known   map[string]knownSession
	forgot  int             // how often one of those was to be read again
	due     map[taskOf]bool // tasks to look at; true after a restart
	busy    bool            // they are being looked at
	touched []string        // work sessions of which clients are told soon
	plans   []string        // tasks of plans likewise
	vague   bool            // others, too
	telling bool
}

// knownSession is a work session as it was read.
type knownSession struct {
	exec.Session
	read time.Time
}

// taskOf is a task of a work session; without a title all that is in none.
type taskOf struct{ session, title string }

const (
	// readSession is how long a work session is believed to be as it was read: another server may change it.
	readSession = 10 * time.Second
	// tellAfter is how long changes of the record are gathered before clients are told.
	tellAfter = 150 * time.Millisecond
	// mostTouched is how many work sessions clients are told of one by one.
	mostTouched = 16
)

func newWorkSessions(cfg *Config, bus *events.Bus, work *work) *workSessions {
	m := &workSessions{
		cfg: cfg, bus: bus, work: work, store: cfg.Store, known: map[string]knownSession{}, due: map[taskOf]bool{},
	}
	m.record, _ = cfg.Runs.Store.(exec.Record)
	return m
}

// of returns a work session.
func (m *workSessions) of(ctx context.Context, name string) (exec.Session, error) {
	if m.record == nil {
		return exec.Session{}, exec.UnknownSession(name, nil)
	}
	now := m.cfg.now()
	m.mu.Lock()
	k, known := m.known[name]
	forgot := m.forgot
	m.mu.Unlock()
	if age := now.Sub(k.read); known && age >= 0 && age < readSession {
		return k.Session, nil
	}
	s, err := m.record.Session(ctx, name)
	switch {
	case errors.Is(err, thread.ErrNotFound):
		return s, exec.UnknownSession(name, m.names(ctx))
	case err != nil:
		return s, fmt.Errorf("read the work session %s: %w", thread.Excerpt(name), err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.forgot == forgot { // else it may have changed since it was read
		m.known[name] = knownSession{s, now}
	}
	return s, nil
}

// names returns those of the newest work sessions.
func (m *workSessions) names(ctx context.Context) (all []string) {
	list, _ := m.record.Sessions(ctx, exec.SessionQuery{}) // they only help to find what was meant
	for _, s := range list {
		all = append(all, s.Name)
	}
	return all
}

// change changes a work session.
func (m *workSessions) change(ctx context.Context, name string, change func(*exec.Session) error) error {
	if m.record == nil {
		return exec.UnknownSession(name, nil)
	}
	_, err := m.record.ChangeSession(ctx, name, func(s *exec.Session) error {
		err := change(s)
		s.Updated = m.cfg.now()
		return err
	})
	m.forget(name)
	if errors.Is(err, thread.ErrNotFound) {
		return exec.UnknownSession(name, m.names(ctx))
	}
	return err
}

// forget has a work session read again.
func (m *workSessions) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, name)
	m.forgot++
}

// enter has what is asked for be of the work session that it names, or of that of whoever asks, before anything is made for
// it. A task and type of its own it keeps.
func (m *workSessions) enter(ctx context.Context, above exec.Execution, by thread.ID, o *thread.Once) error {
	if err := exec.CheckBelongs(cmp.Or(o.Session, above.Session), o.Task, o.Type); err != nil {
		return err
	}
	if o.Session == "" && by != "" {
		session, task := above.Session, above.Task
		if session == "" {
			t, err := m.store.Thread(ctx, by)
			if err != nil && !errors.Is(err, thread.ErrNotFound) {
				return err
			}
			session, task = t.Once.Session, t.Once.Task
		}
		if s, err := m.of(ctx, session); session == "" || errors.Is(err, thread.ErrNotFound) || s.Status.Final() {
			if o.Task != "" {
				return exec.CheckBelongs("", o.Task, "")
			}
			return nil
		}
		o.Session, o.Task = session, cmp.Or(o.Task, task)
	}
	if o.Session == "" {
		return nil
	}
	s, err := m.of(ctx, o.Session)
	if err == nil {
		err = s.Begin() // refuses one that is over; what was read does not change
	}
	if err == nil && !o.On {
		err = m.typed(ctx, o.Session, by)
	}
	return err
}

// typed refuses what an agent wants done in a terminal of a work session, where a person has to agree first: what is queued
// can wait for that, a terminal cannot.
func (m *workSessions) typed(ctx context.Context, session string, by thread.ID) error {
	if session == "" || by == "" {
		return nil
	}
	s, err := m.of(ctx, session)
	switch {
	case errors.Is(err, thread.ErrNotFound):
		return nil
	case err != nil:
		return err
	case s.Status.Final() || !s.Approval.Waits(exec.Execution{By: by}):
		return nil
	}
	return thread.Hint(thread.Kindf(thread.ErrRefused, "by the policy %s of the work session %s a person agrees to what agents have done, and a terminal does not wait for that",
		cmp.Or(s.Approval, exec.ApproveSuggest), s.Name), "start a run with --once, which waits, or let the person do it")
}

// join says which work session the next execution of a thread belongs to: none once that is over.
func (m *workSessions) join(ctx context.Context, o thread.Once) (session, task string, err error) {
	if o.Session == "" {
		return "", "", nil
	}
	s, err := m.of(ctx, o.Session)
	if errors.Is(err, thread.ErrNotFound) || err == nil && s.Status.Final() {
		return "", "", nil
	}
	return o.Session, o.Task, err
}

// payer returns a work session as what pays; without a limit if it is gone.
func (m *workSessions) payer(ctx context.Context, name string) (budget.Payer, error) {
	s, err := m.of(ctx, name)
	if errors.Is(err, thread.ErrNotFound) {
		err = nil
	}
	s.Name = name
	return paying(s), err
}

func paying(s exec.Session) budget.Payer {
	return budget.Payer{Scope: budget.OfSession(s.Name), Name: budget.SessionPrefix + s.Name, Limit: s.Budget.Clone(), WarnAt: s.WarnAt}
}

// payers returns those that are open and have a limit, as far as they can be read.
func (m *workSessions) payers(ctx context.Context) []budget.Payer {
	if m.record == nil {
		return nil
	}
	list, err := m.record.Sessions(ctx, exec.SessionQuery{
		Statuses: []exec.SessionStatus{exec.SessionPlanning, exec.SessionExecuting}, Limit: mostSessions,
	})
	if err != nil {
		m.cfg.Log.Warn("list the budgets of work sessions", "err", err)
	}
	var all []budget.Payer
	for _, s := range list {
		if s.Budget.Set() {
			all = append(all, paying(s))
		}
	}
	return all
}

// mostSessions is how many work sessions are looked at.
const mostSessions = 1000

// Touched takes that the record was written.
func (m *workSessions) Touched(t exec.Touched) {
	if t.Session != "" && t.Execution == "" {
		defer m.changed()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if t.Plan != "" {
		m.touchPlan(t.Plan)
		return
	}
	if t.Execution == "" {
		delete(m.known, t.Session)
		m.forgot++
	}
	switch {
	case t.Session == "" || len(m.touched) >= mostTouched:
		m.vague = true
	case !slices.Contains(m.touched, t.Session):
		m.touched = append(m.touched, t.Session)
	}
	m.tellSoon()
}

// tellSoon has clients told after a moment. mu is held.
func (m *workSessions) tellSoon() {
	if m.telling || !m.work.begin() {
		return
	}
	m.telling = true
	go m.tell()
}

// touchPlan notes that a task of a plan has changed. mu is held.
func (m *workSessions) touchPlan(task string) {
	if !slices.Contains(m.plans, task) {
		m.plans = append(m.plans, task)
	}
	m.tellSoon()
}

// tell tells clients of what has changed since a moment.
func (m *workSessions) tell() {
	defer m.work.done()
	select {
	case <-time.After(tellAfter):
	case <-m.work.closing.Done():
	}
	m.mu.Lock()
	sessions, plans, vague := m.touched, m.plans, m.vague
	m.touched, m.plans, m.vague, m.telling = nil, nil, false, false
	m.mu.Unlock()
	publish := func(what thread.Recorded) {
		m.bus.Publish(thread.Event{At: m.cfg.now(), Kind: thread.EventRecord, Record: &what})
	}
	switch {
	case vague:
		publish(thread.Recorded{})
	case len(sessions) > 0:
		publish(thread.Recorded{Sessions: sessions})
	}
	if len(plans) > 0 {
		publish(thread.Recorded{Tasks: plans})
	}
}
