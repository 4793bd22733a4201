package manager

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/fair"
	"orchestrator/thread/manager/events"
	"orchestrator/thread/secret"
)

// errClosed answers what is asked after Close.
var errClosed = fmt.Errorf("the server is stopping: %w", thread.ErrNotRunning)

// Limits bound what a project may hold at once. Zero is no limit.
type Limits struct {
	Depth   int // forks below forks
	Running int // agents at once
	// Primer is the most that a handoff may cost, in tokens; 0 means 12,000.
	Primer int
	// Grace is how long an agent has to end by itself when it is stopped; 0 means 5 seconds.
	Grace time.Duration
	// Continue has a prompt that a provider's limit refused sent again when the limit ends.
	Continue bool
}

// WorktreeMode says when a new thread gets a worktree of its own without being asked.
type WorktreeMode string

// The modes.
const (
	WorktreeNever  WorktreeMode = ""       // never
	WorktreeShared WorktreeMode = "shared" // where another thread that is in use has the folder
	WorktreeAlways WorktreeMode = "always"
)

// Config is what a Manager is made of. Project, StateDir, Store, Agents and Sessions are
// needed; the others may be nil.
type Config struct {
	Project  string   // the project's folder, absolute
	Moved    []string // where the project's folder was before
	StateDir string   // ours, 0700
	Bin      string   // folder with our program, for the agents' PATH; none when empty
	Store    thread.Store
	Spool    thread.Spool // keeps what the store refuses; nil keeps it in memory alone
	Agents   thread.Agents
	Sessions thread.Sessions

	Worktrees thread.Worktrees
	Reader    thread.Reader
	Differ    thread.Differ
	Finder    thread.Finder
	Merges    thread.Merges
	Furnisher thread.Furnisher // may be nil
	// Models fills in what transcripts do not tell, nil where nobody knows.
	Models thread.Models

	// Tokens counts the tokens of a text; four bytes a token when nil.
	Tokens func(text string) int
	Clock  func() time.Time // time.Now when nil
	Env    []string         // the environment agents start from; os.Environ's form
	Limits Limits
	Offers thread.OfferMode
	// NewWorktree says when a new thread gets a worktree of its own without being asked.
	NewWorktree WorktreeMode
	// MergeNote says whether a merge is told to the agent that it goes to; NoteAsk when empty.
	MergeNote thread.NoteMode
	// EnabledMCPs names the MCP servers that are on for a thread; none when nil.
	EnabledMCPs func(thread.ID) []string
	Log         *slog.Logger // discarded when nil
	// Heard hears every notice when it is told, those of Open too; it must not block or call the Manager. May be nil.
	Heard func(level thread.Level, text string)
}

// Manager is the use cases. Create it with the function New, set Gateway, Open it, Close it.
// All methods may be called at once from many goroutines.
type Manager struct {
	// Gateway carries the model requests; set before Open, because a gateway wants its Observer,
	// which the Manager is. Nil means that agents speak to their providers themselves.
	Gateway thread.Gateway
	// LeftAlone says which stored threads Open left alone, and why.
	LeftAlone []string

	cfg Config
	bus events.Bus

	ctx     context.Context // of steps and background work; ends when Close gives up waiting
	cancel  context.CancelFunc
	closing chan struct{} // closed when Close begins
	hands   *fair.Line    // that type prompts
	idle    chan struct{} // closed when nothing is under way any more, after Close began

	// merging is held during a merge or finish: they span two threads and one repository. Taken
	// before anything else.
	merging sync.Mutex

	// mu guards what follows and the marked fields of every line; held for moments only, never
	// while a port is called.
	mu     sync.Mutex
	lines  map[thread.ID]*line
	order  []thread.ID // oldest first
	busy   int         // goroutines under way: queues at work, timers, prompts on their way
	drains bool        // Close waits for busy to be 0
	closed bool        // nothing new may begin
	starts int         // agents being started, for the limit
	offers offers
}

// New returns a Manager that does nothing until Open.
func New(cfg Config) *Manager {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Tokens == nil {
		cfg.Tokens = func(text string) int { return (len(text) + 3) / 4 }
	}
	if cfg.Limits.Primer == 0 {
		cfg.Limits.Primer = 12_000
	}
	if cfg.Limits.Grace == 0 {
		cfg.Limits.Grace = 5 * time.Second
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &Manager{
		cfg: cfg, ctx: ctx, cancel: cancel,
		closing: make(chan struct{}), hands: fair.NewLine(typedAtOnce, typingShare), idle: make(chan struct{}), lines: make(map[thread.ID]*line),
		offers: offers{mode: cfg.Offers},
	}
	m.bus.StartAfter(cfg.Clock().UnixMicro()) // numbers of an earlier run are smaller
	if t, ok := cfg.Worktrees.(thread.Teller); ok {
		t.Tell(func(text string) { m.notice("", thread.LevelWarn, "%s", text) })
	}
	return m
}

// Open reads the store, repairs what a crash left and marks runs that never ended as interrupted.
// What can be resumed of them is checked in the background and told as events.
func (m *Manager) Open(ctx context.Context) error {
	threads, err := m.cfg.Store.Threads(ctx)
	if err != nil {
		return fmt.Errorf("read the threads: %w", err)
	}
	m.mu.Lock()
	for _, t := range threads {
		if err := t.ID.Check(); err != nil {
			m.LeftAlone = append(m.LeftAlone, fmt.Sprintf("stored thread %q is left alone: %v", t.Name, err))
			m.cfg.Log.Error("a stored thread is left alone", "thread", t.Name, "err", err)
			continue
		}
		m.add(t)
	}
	m.mu.Unlock()
	m.loadOffers(ctx)
	if err := m.moveOldNotes(ctx); err != nil {
		m.cfg.Log.Error("move what older programs kept", "err", err)
	}
	m.recoverSpool(ctx)
	if err := m.repairExecutions(ctx); err != nil {
		return err
	}
	if err := m.loadPrompts(ctx); err != nil {
		return err
	}
	if err := m.repairIntents(ctx); err != nil {
		return err
	}
	m.nameUnfinished()
	m.mu.Lock()
	for _, l := range m.lines {
		m.show(l)
	}
	m.mu.Unlock()
	m.checkInterrupted()
	m.checkKept()
	return nil
}

// Close stops all agents, ends their executions, stores what is under way and waits for it, until
// ctx ends.
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
	for _, l := range m.lines {
		if l.unsaved > 0 {
			// The agent's transcript has them, and its next request brings the conversation again.
			errs = append(errs, fmt.Errorf("%s of %s could not be saved: %s", counted(l.unsaved, "answer"), l.t.Name, l.trouble))
		}
	}
	m.mu.Unlock()
	m.bus.Close()
	return errors.Join(errs...)
}

// drain waits for what is under way until ctx ends. Before that, while there is still time to keep what comes of
// it in the spool, it stops waiting for the store.
func (m *Manager) drain(ctx context.Context) error {
	soon := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		soon, cancel = context.WithTimeout(ctx, time.Until(deadline)*3/4)
		defer cancel()
	}
	select {
	case <-m.idle:
		return nil
	case <-soon.Done():
		m.cancel()
	}
	select {
	case <-m.idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for what is under way: %w", ctx.Err())
	}
}

// begin counts a goroutine in, to be counted out with done; false once closed.
func (m *Manager) begin() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.busy++
	return true
}

// done counts a goroutine out. The last one after Close began shuts the door.
func (m *Manager) done() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy--
	if m.busy == 0 && m.drains && !m.closed {
		m.closed = true
		close(m.idle)
	}
}

// now is the time of the injected clock.
func (m *Manager) now() time.Time { return m.cfg.Clock() }

// add makes the line of a thread. Manager.mu is held.
func (m *Manager) add(t thread.Thread) *line {
	l := &line{m: m, id: t.ID, t: t}
	m.lines[t.ID] = l
	m.order = append(m.order, t.ID)
	return l
}

// drop forgets a purged thread. Manager.mu is held.
func (m *Manager) drop(l *line) {
	l.gone = true
	delete(m.lines, l.id)
	m.order = slices.DeleteFunc(m.order, func(id thread.ID) bool { return id == l.id })
}

// all returns the lines, oldest first. Manager.mu is held.
func (m *Manager) all() []*line {
	lines := make([]*line, 0, len(m.order))
	for _, id := range m.order {
		lines = append(lines, m.lines[id])
	}
	return lines
}

// line returns a thread's line by its id, nil when there is none.
func (m *Manager) line(id thread.ID) *line {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lines[id]
}

// notice tells people something, about a thread where id is set.
func (m *Manager) notice(id thread.ID, level thread.Level, format string, args ...any) {
	text := secret.Redact(fmt.Sprintf(format, args...))
	m.cfg.Log.Info("notice", "thread", string(id), "level", string(level), "text", text)
	if m.cfg.Heard != nil {
		m.cfg.Heard(level, text)
	}
	m.bus.Publish(thread.Event{At: m.now(), Kind: thread.EventNotice, ThreadID: id, Notice: &thread.Notice{Level: level, Text: text}})
}
