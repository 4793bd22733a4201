package manager

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"orchestrator/thread"
)

// List returns all threads but the deleted ones, oldest first.
func (m *Manager) List(context.Context) ([]thread.Status, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]thread.Status, 0, len(m.order))
	for _, id := range m.order {
		if l := m.lines[id]; l.t.Deleted.IsZero() {
			list = append(list, m.status(l))
		}
	}
	return list, nil
}

// Events returns what happens from now on, until ctx ends. A subscriber that falls behind sees a
// gap in Seq and lists again.
func (m *Manager) Events(ctx context.Context) (<-chan thread.Event, error) {
	return m.bus.subscribe(ctx), nil
}

// Seq is the number of the newest event; 0 before the first.
func (m *Manager) Seq() int64 { return m.bus.newest() }

// Why says what speaks for a thread's state.
func (m *Manager) Why(_ context.Context, ref string) (thread.StateReport, error) {
	l, err := m.find(ref)
	if err != nil {
		return thread.StateReport{}, err
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
	for _, p := range l.asked.Prompts {
		if p.State == thread.PromptQueued && p.Reason == "" {
			p.Reason = l.asked.Waits
		}
		r.Evidence = append(slices.Clip(r.Evidence), unansweredEvidence(p))
	}
	if problem := m.status(l).SetupProblem(); problem != "" {
		r.Notes = append(r.Notes, problem)
	}
	return r, nil
}

// status returns what clients show of a thread. Manager.mu is held.
func (m *Manager) status(l *line) thread.Status {
	s := thread.Status{Thread: l.t, Seq: m.bus.newest(), State: l.shown, Depth: m.depth(l.t.Parent)}
	s.Setup = l.setup()
	s.Gauge.CostUSD += l.sideCost
	s.Usage.CostUSD, _ = s.Cost()
	if l.execution != nil {
		e := *l.execution
		s.Execution = &e
	}
	s.Offer = m.offers.of(l.id)
	s.Prompts, s.Queued = l.asked.Prompts, l.asked.Queued
	if l.proof != nil && l.session == nil {
		p := proofWith(*l.proof, s.Prompts)
		s.Resume = &p
	}
	return s
}

// statusOf returns what clients show of a thread.
func (m *Manager) statusOf(l *line) thread.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status(l)
}

// depth counts the ancestors from parent on; purged ones do not count. Manager.mu is held.
func (m *Manager) depth(parent thread.ID) int {
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
			m.bus.publish(thread.Event{At: m.now(), Kind: thread.EventRemoved, ThreadID: l.id})
		}
		return
	}
	if l.published != nil && same(*l.published, s) {
		return
	}
	l.published = &s
	told := s
	m.bus.publish(thread.Event{At: m.now(), Kind: thread.EventThread, ThreadID: l.id, Status: &told})
}

// same compares what clients see at a glance; the evidence behind a state is left out, because it
// is renewed with every request.
func same(a, b thread.Status) bool {
	a.State.Evidence, b.State.Evidence = nil, nil
	a.Updated, b.Updated = time.Time{}, time.Time{}
	a.Seq, b.Seq = 0, 0
	return reflect.DeepEqual(a, b)
}

// stateOf returns a thread's state as people may see it: what the session reports, but working
// until the last answer is durable, and done instead of idle until somebody has looked.
// Manager.mu is held.
func (m *Manager) stateOf(l *line) thread.StateReport {
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
		r = thread.StateReport{State: thread.StateStarting, Since: since}
	case thread.StateApproval, thread.StateQuestion:
		// A person is needed: a store that refuses for minutes must not hide it.
		if l.unstored > 0 && l.trouble == "" {
			return l.heldBack(r)
		}
	case thread.StateIdle, thread.StateDone:
		if l.unstored > 0 {
			return l.heldBack(r)
		}
		if l.asked.First {
			return l.beingTold(r)
		}
		r.State = thread.StateIdle
		if !l.t.Seen {
			r.State = thread.StateDone
		}
	default:
	}
	return r
}

// heldBack says working while the last answer is not durable. Manager.mu is held.
func (l *line) heldBack(r thread.StateReport) thread.StateReport {
	since := r.Since
	if l.shown.State == thread.StateWorking {
		since = l.shown.Since
	}
	detail := "the last answer is being stored"
	if l.trouble != "" {
		detail = "the last answer is not stored yet: " + l.trouble
	}
	held := thread.Evidence{Source: thread.SourceProcess, State: thread.StateWorking, Detail: detail, At: r.Since}
	return thread.StateReport{State: thread.StateWorking, Since: since, Evidence: append([]thread.Evidence{held}, r.Evidence...)}
}

// beingTold says starting while the first prompt is on its way: what waits for the agent to be idle waits for its
// answer. Manager.mu is held.
func (l *line) beingTold(r thread.StateReport) thread.StateReport {
	v := thread.Evidence{Source: thread.SourceProcess, State: thread.StateStarting, Detail: "its first prompt is being typed", At: r.Since}
	return thread.StateReport{State: thread.StateStarting, Since: r.Since, Evidence: append([]thread.Evidence{v}, r.Evidence...)}
}

// stillState is the state of a thread whose agent does not run. Manager.mu is held.
func (m *Manager) stillState(l *line) thread.StateReport {
	state, detail, since := thread.StateExited, "not started yet", l.t.Created
	ended := l.t.Exit != thread.Exit{}
	switch {
	case l.t.Interrupted && !ended:
		state, detail, since = thread.StateInterrupted, "its process ended without us", l.t.Updated
	case l.t.Interrupted:
		state, detail, since = thread.StateInterrupted, exitDetail(l.t.Exit), l.t.Updated
	case ended:
		detail, since = exitDetail(l.t.Exit), l.t.Updated
	case l.t.Session != "":
		detail, since = "its process ended", l.t.Updated
	}
	if l.shown.State == state && l.shown.Why() == detail {
		since = l.shown.Since // the state is not newer because the thread was renamed
	}
	r := thread.StateReport{State: state, Since: since, Evidence: []thread.Evidence{
		{Source: thread.SourceProcess, State: state, Detail: detail, At: since},
	}}
	if l.proof != nil && l.proof.Rebuilt {
		r.Evidence = append(r.Evidence, thread.Evidence{Source: thread.SourceProcess, State: state, Detail: l.proof.Detail, At: since})
	}
	return r
}

// Status returns one thread.
func (m *Manager) Status(_ context.Context, ref string) (thread.Status, error) {
	l, err := m.find(ref)
	if err != nil {
		return thread.Status{}, err
	}
	return m.statusOf(l), nil
}

// Adopt shows a thread that was stored by others: an import.
func (m *Manager) Adopt(ctx context.Context, id thread.ID) (thread.Status, error) {
	t, err := m.cfg.Store.Thread(ctx, id)
	if err != nil {
		return thread.Status{}, fmt.Errorf("adopt a thread: %w", err)
	}
	if err := t.ID.Check(); err != nil {
		return thread.Status{}, fmt.Errorf("adopt a thread: %w", err)
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
