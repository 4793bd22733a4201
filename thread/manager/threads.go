package manager

import (
	"context"
	"fmt"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/manager/events"
	"orchestrator/thread/plaintext"
)

// Threads has the use cases that show threads and publish events.
type Threads struct {
	cfg      *Config
	bus      *events.Bus
	environs *environs
	registry *registry
}

// List returns the live threads except deleted ones, oldest first: all that are in use, and some that are archived.
func (m *Threads) List(context.Context) ([]thread.Status, error) {
	seq := m.bus.Newest() // what is published from here on may be missing in the list
	all := m.registry.index.all()
	list := make([]thread.Status, 0, len(all))
	for _, l := range all {
		if s := l.current(); s.Deleted.IsZero() {
			s.Seq = seq
			list = append(list, s)
		}
	}
	return list, nil
}

// Running returns the threads whose agents run, oldest first.
func (m *Threads) Running() (ids []thread.ID) {
	for _, l := range m.registry.index.all() {
		l.mu.Lock()
		if l.execution != nil && l.t.Deleted.IsZero() {
			ids = append(ids, l.id)
		}
		l.mu.Unlock()
	}
	return ids
}

// Events returns the events from now on, until ctx ends. A subscriber that falls behind sees a gap in Seq and must list
// again.
func (m *Threads) Events(ctx context.Context) (<-chan thread.Event, error) {
	return m.bus.Subscribe(ctx), nil
}

// mostKinds is how many kinds of events a query may name: the log is read while nothing can be published.
const mostKinds = 64

// Happenings returns a part of the event log.
func (m *Threads) Happenings(_ context.Context, q thread.HappeningQuery) (thread.HappeningList, error) {
	var id thread.ID
	for _, k := range q.Kinds[:min(len(q.Kinds), mostKinds)] {
		if !slices.Contains(thread.HappeningKinds(), k) {
			return thread.HappeningList{}, fmt.Errorf("events: no kind is called %q: %w", plaintext.Short(string(k), 40), thread.ErrInvalid)
		}
	}
	if len(q.Kinds) > mostKinds {
		return thread.HappeningList{}, fmt.Errorf("events: %d kinds, at most %d can be asked for: %w", len(q.Kinds), mostKinds, thread.ErrInvalid)
	}
	if q.Thread != "" {
		l, err := m.registry.find(q.Thread)
		if err != nil {
			return thread.HappeningList{}, err
		}
		id = l.live.id
	}
	return m.bus.Happenings(q, id), nil
}

// Seq returns the number of the newest event; 0 before the first.
func (m *Threads) Seq() int64 { return m.bus.Newest() }

// Why returns a thread's state with its evidence.
func (m *Threads) Why(_ context.Context, ref string) (thread.StateReport, error) {
	l, err := m.registry.find(ref)
	if err != nil {
		return thread.StateReport{}, err
	}
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	if l.live.session != nil {
		l.live.show()
	}
	r := l.live.shown
	if l.live.session == nil {
		r.Screen = l.live.t.Exit.Screen
	}
	for _, p := range l.live.asked.Prompts {
		if p.State == thread.PromptQueued && p.Reason == "" {
			p.Reason = l.live.asked.Waits
		}
		r.Evidence = append(slices.Clip(r.Evidence), unansweredEvidence(p))
	}
	switch {
	case l.live.session == nil:
	case l.live.aside != "":
		r.Notes = append(r.Notes, "not through the gateway: nothing can be masked, and answers are read from the agent's "+
			"transcript ("+l.live.aside+")")
	case l.live.requests.Begun() == l.live.before:
		r.Notes = append(r.Notes, "nothing has come through the gateway since the agent was started")
	}
	if l.live.course == aroundGateway {
		r.Notes = append(slices.Clip(r.Notes), aroundNote)
	}
	if problem := l.live.status().SetupProblem(); problem != "" {
		r.Notes = append(r.Notes, problem)
	}
	return r, nil
}

// Status returns one thread.
func (m *Threads) Status(_ context.Context, ref string) (thread.Status, error) {
	t, err := m.registry.lookFor(ref)
	if err != nil {
		return thread.Status{}, err
	}
	return m.registry.status(t), nil
}

// mostArchived is how many threads a page of the archive has at most.
const mostArchived = 500

// Archive returns a page of the archived threads whose names begin with prefix, the newest first. after is where it begins, 0 for the first; next is
// where the one after it does, 0 if there is none.
func (m *Threads) Archive(ctx context.Context, prefix string, after int64, limit int) (list []thread.Status, next int64, err error) {
	if limit <= 0 || limit > mostArchived {
		limit = mostArchived
	}
	some, next, err := m.cfg.Store.SelectThreads(ctx, thread.Query{
		Use: thread.AtRest, Name: prefix, Newest: true, After: after, Limit: limit,
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read the archive: %w", err)
	}
	list = make([]thread.Status, 0, len(some))
	for _, t := range some {
		if t.Deleted.IsZero() && t.ID.Check() == nil {
			list = append(list, m.registry.status(t))
		}
	}
	return list, next, nil
}

// Adopt shows a thread that others stored, such as an import.
func (m *Threads) Adopt(ctx context.Context, id thread.ID) (thread.Status, error) {
	t, err := m.cfg.Store.Thread(ctx, id)
	if err != nil {
		return thread.Status{}, fmt.Errorf("adopt a thread: %w", err)
	}
	if err := t.ID.Check(); err != nil {
		return thread.Status{}, fmt.Errorf("adopt a thread: %w", err)
	}
	return m.registry.show(t, false).live.current(), nil
}

// Speech returns the events of one thread from now on, with its model's speech, in order, until ctx ends. A running
// response is sent from its beginning. A follower that falls behind gets a speech event with Missed set and must ask
// again.
func (m *Threads) Speech(ctx context.Context, ref string) (<-chan thread.Event, error) {
	l, err := m.registry.find(ref)
	if err != nil {
		return nil, err
	}
	return m.bus.SubscribeTo(ctx, l.live.id, m.cfg.now()), nil
}

// Refused counts the checkpoints that the store has refused so far: those kept in the spool until the store accepts
// them, and those that are only in memory.
func (m *Threads) Refused() (spooled, unsaved int) {
	for _, l := range m.registry.index.all() {
		l.mu.Lock()
		spooled += l.pending - l.unsaved
		unsaved += l.unsaved
		l.mu.Unlock()
	}
	return spooled, unsaved
}

// Environ returns the environment that a person's client brought for a thread's agents, nil if there is none.
func (m *Threads) Environ(id thread.ID) []string { return m.environs.of(id) }

// MCPChanged tells clients that the MCP servers of a thread, or of all if id is empty, have changed.
func (m *Threads) MCPChanged(id thread.ID) {
	m.bus.Publish(thread.Event{At: m.cfg.now(), Kind: thread.EventMCP, ThreadID: id})
}
