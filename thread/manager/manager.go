package manager

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	"weak"

	"orchestrator/thread"
	"orchestrator/thread/ground/semaphore"
	"orchestrator/thread/manager/events"
	"orchestrator/thread/manager/offers"
	"orchestrator/thread/manager/past"
	"orchestrator/thread/manager/recording"
	"orchestrator/thread/plaintext"
	exec "orchestrator/thread/work"
)

// Manager has all use cases, by what they are about. Create it with New, set Gateway, then Open it and later Close it.
// All of them are safe for concurrent use.
type Manager struct {
	// Gateway carries the model requests. It must be set before Open, since the gateway needs Traffic. Nil means that
	// agents talk to their providers directly.
	Gateway thread.Gateway
	// Skipped lists the stored threads that Open skipped, with reasons.
	Skipped []string

	Threads   *Threads
	History   *History
	Agents    *Agents
	Creation  *Creation
	Lifecycle *Lifecycle
	Forks     *Forks
	Rewinds   *Rewinds
	Merges    *Merges
	Prompts   *Prompts
	Questions *Questions
	Offers    *Offers
	Traffic   *Traffic
	Bases     *Bases
	// Executions are what agents do without a terminal.
	Executions *Executions
	Budgets    *Budgets
	// Parts are the runs that are agents of a plan's task.
	Parts *Parts

	cfg      *Config
	bus      *events.Bus
	work     *work
	registry *registry
	recovery *recovery
	keeper   *keeper // of the event log; nil before Open
}

// How many prompts of a server are typed at once, and for how long one holds its slot while others wait: an agent's
// input is watched closely in the meantime, and an agent that gets no CPU time accepts none.
const (
	typedAtOnce = 4
	typingShare = time.Second
)

// New returns a Manager that does nothing until Open.
func New(config Config) *Manager {
	cfg, bus, work := config.withDefaults(), &events.Bus{}, newWork()
	cfg.ledger = newLedger(cfg, work)
	now := cfg.now()
	bus.StartAfter(now.UnixMicro(), now) // numbers of an earlier run are smaller
	past := past.Reader{Store: cfg.Store, Codec: cfg.Reader, Differ: cfg.Differ, Log: cfg.Log}
	notices, intents, environs := &notices{cfg, bus}, &intents{cfg}, &environs{server: cfg.Env}
	shelf := &shelf{cfg: cfg, ctx: func() context.Context { return work.ctx }}
	index := newIndex(cfg, shelf)
	checker := &baseChecker{cfg: cfg, work: work, notices: notices}
	starts := &starts{limit: cfg.Limits.Running, index: index}
	open := newOpenRuns(cfg, index)
	sessions := newWorkSessions(cfg, bus, work)
	open.noted = func(x exec.Execution) {
		sessions.noted(x)
		if cfg.Runs.Parted != nil && x.Part.Task != "" {
			cfg.Runs.Parted(x)
		}
	}
	var programs func() []string
	if w, ok := cfg.Merges.(thread.ProgramWaiter); ok {
		programs = w.Programs
	}
	merging := newExclusive(programs)
	merging.freed = open.look
	r := &registry{
		open: open, merging: merging, sessions: sessions,
		cfg: cfg, past: past, bus: bus, work: work, notices: notices, intents: intents, environs: environs, starts: starts, checker: checker,
		typing: semaphore.New(typedAtOnce, typingShare), shelf: shelf, index: index,
		byID: map[thread.ID]*run{}, waking: map[thread.ID]chan struct{}{}, resting: map[thread.ID]weak.Pointer[run]{},
	}
	m := &Manager{
		Threads:   &Threads{cfg: cfg, bus: bus, environs: environs, registry: r},
		History:   &History{cfg: cfg, past: past, registry: r},
		Agents:    &Agents{cfg: cfg, registry: r, starts: starts},
		Lifecycle: &Lifecycle{cfg: cfg, bus: bus, notices: notices, merging: merging, registry: r},
		Rewinds:   &Rewinds{cfg: cfg, notices: notices, merging: merging, registry: r},
		Traffic:   &Traffic{cfg: cfg, bus: bus, work: work, notices: notices, registry: r, checker: checker},
		cfg:       cfg, bus: bus, work: work, registry: r,
	}
	m.Creation = &Creation{cfg: cfg, bus: bus, work: work, notices: notices, intents: intents, registry: r, agents: m.Agents, sessions: sessions}
	m.Forks = &Forks{cfg: cfg, past: past, notices: notices, registry: r, agents: m.Agents, creation: m.Creation}
	m.Merges = &Merges{
		cfg: cfg, past: past, bus: bus, work: work, notices: notices, intents: intents, merging: merging, registry: r,
		life: m.Lifecycle,
	}
	open.ended = m.Merges.disposes
	m.Offers = &Offers{
		cfg: cfg, past: past, work: work, notices: notices, registry: r, forks: m.Forks, life: m.Lifecycle,
		mode: cfg.Offers, signals: make(map[thread.ID]*offers.Signals),
	}
	m.Offers.back = &takeBacks{
		cfg: cfg, past: past, work: work, forks: m.Forks, offer: m.Offers.addBack, offers: m.Offers.Mode,
	}
	m.Forks.prompted, r.prompted = m.Offers.back.prompted, m.Offers.back.prompted
	m.Prompts = &Prompts{cfg: cfg, registry: r, offers: m.Offers}
	m.Budgets = newBudgets(cfg, work, notices, r, open, sessions)
	sessions.changed = func() { m.Budgets.books.Changed(); open.look() }
	m.Creation.budgets = m.Budgets
	open.asking = m.Budgets.asking
	m.Executions = &Executions{
		cfg: cfg, registry: r, work: work, notices: notices, forks: m.Forks, open: open, sessions: sessions,
		dispatcher: &dispatcher{cfg: cfg, work: work, registry: r, open: open, budgets: m.Budgets, proposer: &proposer{cfg, work, r, sessions, m.Budgets.books}},
	}
	m.Executions.dispatcher.instead = m.Executions.instead
	m.Questions = &Questions{registry: r, executions: m.Executions, sessions: sessions}
	m.Parts = &Parts{cfg: cfg, registry: r, creation: m.Creation, executions: m.Executions, prompts: m.Prompts, budgets: m.Budgets, merges: m.Merges, lifecycle: m.Lifecycle}
	m.recovery = &recovery{
		cfg: cfg, work: work, notices: notices, intents: intents, registry: r,
		creation: m.Creation, forks: m.Forks, rewinds: m.Rewinds, merges: m.Merges,
	}
	r.wakes, r.late = m.recovery.wakes, givenLate
	m.Bases = &Bases{cfg: cfg, work: work, notices: notices, registry: r, offers: m.Offers, checker: checker}
	m.Offers.back.set = m.Bases.Set
	r.answered = func(ctx context.Context, l *liveThread, a recording.Response) {
		m.Offers.observe(ctx, l, a)
		m.Bases.observe(l, a)
	}
	if t, ok := cfg.Worktrees.(thread.RepairReporter); ok {
		t.OnRepair(func(text string) { notices.post("", thread.LevelWarn, "%s", text) })
	}
	return m
}

// Open reads the store, repairs what a crash left and marks runs that never ended as interrupted. Whether they can be
// resumed is checked in the background and published as events.
func (m *Manager) Open(ctx context.Context) error {
	m.cfg.gateway = m.Gateway
	m.keeper = keepLog(m.cfg, m.bus)
	err := m.registry.load(ctx, func(t thread.Thread, err error) {
		m.Skipped = append(m.Skipped, fmt.Sprintf("skipped stored thread %q: %v", t.Name, err))
		m.cfg.Log.Error("skip a stored thread", "thread", t.Name, "err", err)
	})
	if err != nil {
		return fmt.Errorf("read the threads: %w", err)
	}
	m.Offers.loadOffers(ctx)
	if err := m.recovery.moveOldNotes(ctx); err != nil {
		m.cfg.Log.Error("migrate notes of older versions", "err", err)
	}
	if err := m.Budgets.load(ctx); err != nil {
		return err
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
	if err := m.recovery.recoverRuns(ctx, m.Executions); err != nil {
		return err
	}
	m.cfg.ledger.Recover(m.recovery.leftOpen)
	m.recovery.nameUnfinished()
	for _, l := range m.registry.all() {
		l.live.mu.Lock()
		l.live.show()
		l.live.mu.Unlock()
	}
	m.recovery.checkInterrupted()
	m.recovery.recallLines()
	m.recovery.checkKept()
	return nil
}

// Close stops all agents, ends their executions, and waits until everything is stored or ctx ends.
func (m *Manager) Close(ctx context.Context) error {
	defer m.work.cancel()
	if !m.work.stop() {
		return nil
	}
	lines := m.registry.all()
	errs := make([]error, len(lines))
	var stops sync.WaitGroup
	for i, l := range lines {
		if l.live.running() == nil {
			continue
		}
		stops.Go(func() {
			errs[i] = l.live.do(ctx, func(ctx context.Context) error { return l.stop(ctx, "server stopped") })
		})
	}
	stops.Wait()
	if err := m.work.drain(ctx); err != nil {
		errs = append(errs, err)
	}
	for _, l := range m.registry.all() {
		l.live.mu.Lock()
		if l.live.unsaved > 0 {
			// The agent's transcript has them, and its next request brings the conversation again.
			errs = append(errs, fmt.Errorf("%s of %s could not be saved: %s", plaintext.Count(l.live.unsaved, "answer"), l.live.t.Name,
				l.live.trouble))
		}
		l.live.mu.Unlock()
	}
	m.Executions.open.hub.Close()
	m.bus.Close()
	m.keeper.wait()
	return errors.Join(errs...)
}
