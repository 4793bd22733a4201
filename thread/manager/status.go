package manager

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/activity"
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
	return m.bus.Subscribe(ctx), nil
}

// Seq is the number of the newest event; 0 before the first.
func (m *Manager) Seq() int64 { return m.bus.Newest() }

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
	s := thread.Status{Thread: l.t, Seq: m.bus.Newest(), State: l.shown, Depth: m.depth(l.t.Parent)}
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
			m.bus.Publish(thread.Event{At: m.now(), Kind: thread.EventRemoved, ThreadID: l.id})
		}
		return
	}
	if l.published != nil && same(*l.published, s) {
		return
	}
	l.published = &s
	told := s
	m.bus.Publish(thread.Event{At: m.now(), Kind: thread.EventThread, ThreadID: l.id, Status: &told})
}

// same compares what clients see at a glance; the evidence behind a state is left out, because it
// is renewed with every request.
func same(a, b thread.Status) bool {
	a.State.Evidence, b.State.Evidence = nil, nil
	a.Updated, b.Updated = time.Time{}, time.Time{}
	a.Seq, b.Seq = 0, 0
	return reflect.DeepEqual(a, b)
}

// stateOf returns a thread's state as people may see it. Manager.mu is held.
func (m *Manager) stateOf(l *line) thread.StateReport {
	if l.session == nil {
		return activity.Still(l.t, l.proof, l.shown)
	}
	k := activity.Known{
		Reported: l.reported, Started: m.now(), Seen: l.t.Seen, Unstored: l.requests.Unstored(), Trouble: l.trouble, First: l.asked.First,
	}
	if l.execution != nil {
		k.Started = l.execution.Started
	}
	return activity.Running(k, l.shown)
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

// Speech returns the events of one thread from now on with what its model says, in the order in which all that
// happens, until ctx ends. A response that is under way is told from its beginning. One that falls behind is told a
// speech that was missed, after which it asks again for what it wants to know.
func (m *Manager) Speech(ctx context.Context, ref string) (<-chan thread.Event, error) {
	l, err := m.find(ref)
	if err != nil {
		return nil, err
	}
	return m.bus.SubscribeTo(ctx, l.id, m.now()), nil
}

// Spoke implements Observer.
func (m *Manager) Spoke(id thread.ID, s thread.Speech) {
	m.bus.Say(thread.Event{At: m.now(), Kind: thread.EventSpeech, ThreadID: id, Speech: &s})
}
