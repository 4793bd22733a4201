package thread

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// List returns all threads but the deleted ones, oldest first.
func (m *Manager) List(context.Context) ([]Status, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]Status, 0, len(m.order))
	for _, id := range m.order {
		if l := m.lines[id]; l.t.Deleted.IsZero() {
			list = append(list, m.status(l))
		}
	}
	return list, nil
}

// Events returns what happens from now on, until ctx ends. A subscriber that falls behind sees a
// gap in Seq and lists again.
func (m *Manager) Events(ctx context.Context) (<-chan Event, error) {
	return m.bus.subscribe(ctx), nil
}

// Seq is the number of the newest event; 0 before the first.
func (m *Manager) Seq() int64 { return m.bus.newest() }

// Why says what speaks for a thread's state.
func (m *Manager) Why(_ context.Context, ref string) (StateReport, error) {
	l, err := m.find(ref)
	if err != nil {
		return StateReport{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.session != nil {
		m.show(l)
	}
	r := l.shown
	if l.session == nil {
		r.Screen = l.t.Exit.Screen
	}
	for _, p := range l.asked.prompts {
		if p.State == PromptQueued && p.Reason == "" {
			p.Reason = l.asked.waits
		}
		r.Evidence = append(slices.Clip(r.Evidence), p.evidence())
	}
	if problem := m.status(l).SetupProblem(); problem != "" {
		r.Notes = append(r.Notes, problem)
	}
	return r, nil
}

// status returns what clients show of a thread. Manager.mu is held.
func (m *Manager) status(l *line) Status {
	s := Status{Thread: l.t, Seq: m.bus.newest(), State: l.shown, Depth: m.depth(l.t.Parent)}
	s.Setup = l.setup()
	s.Gauge.CostUSD += l.sideCost
	s.Usage.CostUSD, _ = s.Cost()
	if l.execution != nil {
		e := *l.execution
		s.Execution = &e
	}
	s.Offer = m.offers.of(l.id)
	s.Prompts, s.Queued = l.asked.prompts, l.asked.queued
	if l.proof != nil && l.session == nil {
		p := l.proof.with(s.Prompts)
		s.Resume = &p
	}
	return s
}

// statusOf returns what clients show of a thread.
func (m *Manager) statusOf(l *line) Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status(l)
}

// depth counts the ancestors from parent on; purged ones do not count. Manager.mu is held.
func (m *Manager) depth(parent ID) int {
	n := 0
	for n <= len(m.lines) {
		l := m.lines[parent]
		if l == nil {
			break
		}
		n++
		parent = l.t.Parent
	}
	return n
}

// show works out what a thread's state is to people and publishes it when anything changed.
// Manager.mu is held.
func (m *Manager) show(l *line) {
	l.shown = m.stateOf(l)
	s := m.status(l)
	if !l.t.Deleted.IsZero() {
		if l.published != nil {
			l.published = nil
			m.bus.publish(Event{At: m.now(), Kind: EventRemoved, ThreadID: l.id})
		}
		return
	}
	if l.published != nil && same(*l.published, s) {
		return
	}
	l.published = &s
	told := s
	m.bus.publish(Event{At: m.now(), Kind: EventThread, ThreadID: l.id, Status: &told})
}

// same compares what clients see at a glance; the evidence behind a state is left out, because it
// is renewed with every request.
func same(a, b Status) bool {
	a.State.Evidence, b.State.Evidence = nil, nil
	a.Updated, b.Updated = time.Time{}, time.Time{}
	a.Seq, b.Seq = 0, 0
	return reflect.DeepEqual(a, b)
}

// stateOf returns a thread's state as people may see it: what the session reports, but working
// until the last answer is durable, and done instead of idle until somebody has looked.
// Manager.mu is held.
func (m *Manager) stateOf(l *line) StateReport {
	if l.session == nil {
		return m.stillState(l)
	}
	r := l.reported
	switch r.State {
	case "":
		since := m.now()
		if l.execution != nil {
			since = l.execution.Started
		}
		r = StateReport{State: StateStarting, Since: since}
	case StateApproval, StateQuestion:
		// A person is needed: a store that refuses for minutes must not hide it.
		if l.unstored > 0 && l.trouble == "" {
			return l.heldBack(r)
		}
	case StateIdle, StateDone:
		if l.unstored > 0 {
			return l.heldBack(r)
		}
		if l.asked.first {
			return l.beingTold(r)
		}
		r.State = StateIdle
		if !l.t.Seen {
			r.State = StateDone
		}
	default:
	}
	return r
}

// heldBack says working while the last answer is not durable. Manager.mu is held.
func (l *line) heldBack(r StateReport) StateReport {
	since := r.Since
	if l.shown.State == StateWorking {
		since = l.shown.Since
	}
	detail := "the last answer is being stored"
	if l.trouble != "" {
		detail = "the last answer is not stored yet: " + l.trouble
	}
	held := Evidence{Source: SourceProcess, State: StateWorking, Detail: detail, At: r.Since}
	return StateReport{State: StateWorking, Since: since, Evidence: append([]Evidence{held}, r.Evidence...)}
}

// beingTold says starting while the first prompt is on its way: what waits for the agent to be idle waits for its
// answer. Manager.mu is held.
func (l *line) beingTold(r StateReport) StateReport {
	v := Evidence{Source: SourceProcess, State: StateStarting, Detail: "its first prompt is being typed", At: r.Since}
	return StateReport{State: StateStarting, Since: r.Since, Evidence: append([]Evidence{v}, r.Evidence...)}
}

// stillState is the state of a thread whose agent does not run. Manager.mu is held.
func (m *Manager) stillState(l *line) StateReport {
	state, detail, since := StateExited, "not started yet", l.t.Created
	ended := l.t.Exit != Exit{}
	switch {
	case l.t.Interrupted && !ended:
		state, detail, since = StateInterrupted, "its process ended without us", l.t.Updated
	case l.t.Interrupted:
		state, detail, since = StateInterrupted, exitDetail(l.t.Exit), l.t.Updated
	case ended:
		detail, since = exitDetail(l.t.Exit), l.t.Updated
	case l.t.Session != "":
		detail, since = "its process ended", l.t.Updated
	}
	if l.shown.State == state && l.shown.Why() == detail {
		since = l.shown.Since // the state is not newer because the thread was renamed
	}
	r := StateReport{State: state, Since: since, Evidence: []Evidence{
		{Source: SourceProcess, State: state, Detail: detail, At: since},
	}}
	if l.proof != nil && l.proof.Rebuilt {
		r.Evidence = append(r.Evidence, Evidence{Source: SourceProcess, State: state, Detail: l.proof.Detail, At: since})
	}
	return r
}

// Status returns one thread.
func (m *Manager) Status(_ context.Context, ref string) (Status, error) {
	l, err := m.find(ref)
	if err != nil {
		return Status{}, err
	}
	return m.statusOf(l), nil
}

// Adopt shows a thread that was stored by others: an import.
func (m *Manager) Adopt(ctx context.Context, id ID) (Status, error) {
	t, err := m.cfg.Store.Thread(ctx, id)
	if err != nil {
		return Status{}, fmt.Errorf("adopt a thread: %w", err)
	}
	if err := t.ID.Check(); err != nil {
		return Status{}, fmt.Errorf("adopt a thread: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.lines[id]
	if l == nil {
		l = m.add(t)
		m.show(l)
	}
	return m.status(l), nil
}
