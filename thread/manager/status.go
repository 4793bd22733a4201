package manager

import (
	"context"
	"fmt"
	"slices"

	"orchestrator/thread"
)

// status has the use cases that show threads and publish events.
type status struct{ *registry }

// List returns all threads except deleted ones, oldest first.
func (m *status) List(context.Context) ([]thread.Status, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]thread.Status, 0, len(m.order))
	for _, id := range m.order {
		if l := m.byID[id]; l.t.Deleted.IsZero() {
			list = append(list, l.status())
		}
	}
	return list, nil
}

// Running returns the threads whose agents run, oldest first.
func (m *status) Running() (ids []thread.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range m.order {
		if l := m.byID[id]; l.execution != nil && l.t.Deleted.IsZero() {
			ids = append(ids, id)
		}
	}
	return ids
}

// Events returns the events from now on, until ctx ends. A subscriber that falls behind sees a gap in Seq and must list
// again.
func (m *status) Events(ctx context.Context) (<-chan thread.Event, error) {
	return m.bus.Subscribe(ctx), nil
}

// Seq returns the number of the newest event; 0 before the first.
func (m *status) Seq() int64 { return m.bus.Newest() }

// Why returns a thread's state with its evidence.
func (m *status) Why(_ context.Context, ref string) (thread.StateReport, error) {
	l, err := m.find(ref)
	if err != nil {
		return thread.StateReport{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.session != nil {
		l.show()
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
	switch {
	case l.session == nil:
	case l.aside != "":
		r.Notes = append(r.Notes, "not through the gateway: nothing can be masked, and answers are read from the agent's "+
			"transcript ("+l.aside+")")
	case l.requests.Begun() == l.before:
		r.Notes = append(r.Notes, "nothing has come through the gateway since the agent was started")
	}
	if l.around {
		r.Notes = append(slices.Clip(r.Notes), aroundNote)
	}
	if problem := l.status().SetupProblem(); problem != "" {
		r.Notes = append(r.Notes, problem)
	}
	return r, nil
}

// Status returns one thread.
func (m *status) Status(_ context.Context, ref string) (thread.Status, error) {
	l, err := m.find(ref)
	if err != nil {
		return thread.Status{}, err
	}
	return l.current(), nil
}

// Adopt shows a thread that others stored, such as an import.
func (m *status) Adopt(ctx context.Context, id thread.ID) (thread.Status, error) {
	t, err := m.cfg.Store.Thread(ctx, id)
	if err != nil {
		return thread.Status{}, fmt.Errorf("adopt a thread: %w", err)
	}
	if err := t.ID.Check(); err != nil {
		return thread.Status{}, fmt.Errorf("adopt a thread: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.byID[id]
	if l == nil {
		l = m.add(t)
		l.show()
	}
	return l.status(), nil
}

// Speech returns the events of one thread from now on, with its model's speech, in order, until ctx ends. A running
// response is sent from its beginning. A follower that falls behind gets a speech event with Missed set and must ask
// again.
func (m *status) Speech(ctx context.Context, ref string) (<-chan thread.Event, error) {
	l, err := m.find(ref)
	if err != nil {
		return nil, err
	}
	return m.bus.SubscribeTo(ctx, l.id, m.now()), nil
}

// Refused counts the checkpoints that the store has refused so far: those kept in the spool until the store accepts
// them, and those that are only in memory.
func (m *status) Refused() (spooled, unsaved int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.byID {
		spooled += l.pending - l.unsaved
		unsaved += l.unsaved
	}
	return spooled, unsaved
}
