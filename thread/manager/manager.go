package manager

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"orchestrator/thread"
	"orchestrator/thread/manager/offers"
	"orchestrator/thread/plaintext"
)

// Manager has all use cases. Create it with New, set Gateway, then Open it and later Close it. Its methods are safe for
// concurrent use.
type Manager struct {
	// Skipped lists the stored threads that Open skipped, with reasons.
	Skipped []string

	*registry
	*status
	*history
	*runs
	*creation
	*lifecycle
	*forks
	*rewinds
	*merges
	*prompts
	*suggestions
	*traffic
	recovery *recovery
}

// New returns a Manager that does nothing until Open.
func New(cfg Config) *Manager {
	r := newRegistry(newCore(cfg))
	m := &Manager{
		registry: r, status: &status{r}, history: &history{r}, runs: &runs{r}, lifecycle: &lifecycle{r},
		rewinds: &rewinds{r}, traffic: &traffic{r},
	}
	m.creation = &creation{registry: r, runs: m.runs}
	m.forks = &forks{registry: r, runs: m.runs, creation: m.creation}
	m.merges = &merges{registry: r, life: m.lifecycle}
	m.suggestions = &suggestions{
		registry: r, forks: m.forks, life: m.lifecycle, mode: cfg.Offers, signals: make(map[thread.ID]*offers.Signals),
	}
	m.prompts = &prompts{registry: r, suggestions: m.suggestions}
	m.recovery = &recovery{registry: r, creation: m.creation, forks: m.forks, rewinds: m.rewinds, merges: m.merges}
	r.answered = m.suggestions.observe
	if t, ok := cfg.Worktrees.(thread.RepairReporter); ok {
		t.OnRepair(func(text string) { m.notice("", thread.LevelWarn, "%s", text) })
	}
	return m
}

// Open reads the store, repairs what a crash left and marks runs that never ended as interrupted. Whether they can be
// resumed is checked in the background and published as events.
func (m *Manager) Open(ctx context.Context) error {
	threads, err := m.cfg.Store.Threads(ctx)
	if err != nil {
		return fmt.Errorf("read the threads: %w", err)
	}
	m.mu.Lock()
	for _, t := range threads {
		if err := t.ID.Check(); err != nil {
			m.Skipped = append(m.Skipped, fmt.Sprintf("skipped stored thread %q: %v", t.Name, err))
			m.cfg.Log.Error("skip a stored thread", "thread", t.Name, "err", err)
			continue
		}
		m.add(t)
	}
	m.mu.Unlock()
	m.suggestions.loadOffers(ctx)
	if err := m.recovery.moveOldNotes(ctx); err != nil {
		m.cfg.Log.Error("migrate notes of older versions", "err", err)
	}
	m.recovery.recoverSpool(ctx)
	if err := m.recovery.repairExecutions(ctx); err != nil {
		return err
	}
	if err := m.recovery.loadPrompts(ctx); err != nil {
		return err
	}
	if err := m.recovery.repairIntents(ctx); err != nil {
		return err
	}
	m.recovery.nameUnfinished()
	m.mu.Lock()
	for _, l := range m.byID {
		l.show()
	}
	m.mu.Unlock()
	m.recovery.checkInterrupted()
	m.recovery.checkKept()
	return nil
}

// Close stops all agents, ends their executions, and waits until everything is stored or ctx ends.
func (m *Manager) Close(ctx context.Context) error {
	defer m.cancel()
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	select {
	case <-m.closing:
		m.mu.Unlock()
		return nil
	default:
		close(m.closing)
	}
	lines := m.all()
	m.mu.Unlock()

	errs := make([]error, len(lines))
	var stops sync.WaitGroup
	for i, l := range lines {
		if l.running() == nil {
			continue
		}
		stops.Go(func() {
			errs[i] = l.do(ctx, func(ctx context.Context) error { return l.stop(ctx, "server stopped") })
		})
	}
	stops.Wait()
	m.mu.Lock()
	m.drains = true
	m.busy++
	m.mu.Unlock()
	m.done()
	if err := m.drain(ctx); err != nil {
		errs = append(errs, err)
	}
	m.mu.Lock()
	m.closed = true
	for _, l := range m.byID {
		if l.unsaved > 0 {
			// The agent's transcript has them, and its next request brings the conversation again.
			errs = append(errs, fmt.Errorf("%s of %s could not be saved: %s", plaintext.Count(l.unsaved, "answer"), l.t.Name,
				l.trouble))
		}
	}
	m.mu.Unlock()
	m.bus.Close()
	return errors.Join(errs...)
}
