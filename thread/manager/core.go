package manager

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/attachment"
	"orchestrator/thread/ground/semaphore"
	"orchestrator/thread/manager/events"
	"orchestrator/thread/manager/past"
	"orchestrator/thread/secret"
)

// core is the base of every part of the Manager: the configuration, the event bus, the count of running operations, and
// the lock.
type core struct {
	// Gateway carries the model requests. It must be set before Open, since the gateway needs its Observer, which is the
	// Manager. Nil means that agents talk to their providers directly.
	Gateway thread.Gateway

	cfg  Config
	past past.Reader // what is stored
	bus  events.Bus

	ctx     context.Context // of steps and background work; cancelled when Close stops waiting
	cancel  context.CancelFunc
	closing chan struct{} // closed when Close begins
	// environs has the environments that persons brought, by thread; they are in memory only, as they hold secrets.
	environs sync.Map
	merging  *exclusive           // of what spans threads and the repository; taken before any other lock
	typing   *semaphore.Semaphore // limits how many prompts are typed at once
	drained  chan struct{}        // closed when nothing is running any more, after Close began

	// mu guards the fields below, liveThreads and the marked fields of every liveThread; it is held only for moments,
	// never while a port is called.
	mu     sync.Mutex
	busy   int  // running goroutines: queues, timers, prompts being typed
	drains bool // Close waits until busy is 0
	closed bool // nothing new may start
	starts int  // agents being started, for the limit
}

// newCore fills in defaults.
func newCore(cfg Config) *core {
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
	m := &core{
		cfg: cfg, ctx: ctx, cancel: cancel,
		closing: make(chan struct{}), typing: semaphore.New(typedAtOnce, typingShare), drained: make(chan struct{}),
	}
	var programs func() []string
	if w, ok := cfg.Merges.(thread.ProgramWaiter); ok {
		programs = w.Programs
	}
	m.merging = newExclusive(programs)
	m.past = past.Reader{Store: cfg.Store, Codec: cfg.Reader, Differ: cfg.Differ, Log: cfg.Log}
	m.bus.StartAfter(cfg.Clock().UnixMicro()) // numbers of an earlier run are smaller
	return m
}

// How many prompts of a server are typed at once, and for how long one holds its slot while others wait: an agent's
// input is watched closely in the meantime, and an agent that gets no CPU time accepts none.
const (
	typedAtOnce = 4
	typingShare = time.Second
)

// The kinds of intents that the Manager writes.
const (
	intentFork   = "fork"
	intentRewind = "rewind"
	intentMerge  = "merge"
	intentFinish = "finish"
	intentDelete = "delete"
)

// errClosed is returned after Close.
var errClosed = fmt.Errorf("the server is stopping: %w", thread.ErrNotRunning)

// notice shows people a message, about a thread if id is set.
func (m *core) notice(id thread.ID, level thread.Level, format string, args ...any) {
	text := secret.Redact(fmt.Sprintf(format, args...))
	m.cfg.Log.Info("notice", "thread", string(id), "level", string(level), "text", text)
	if m.cfg.OnNotice != nil {
		m.cfg.OnNotice(level, text)
	}
	m.bus.Publish(thread.Event{
		At: m.now(), Kind: thread.EventNotice, ThreadID: id, Notice: &thread.Notice{Level: level, Text: text},
	})
}

// about returns a function that shows people messages about a thread.
func (m *core) about(id thread.ID) func(thread.Level, string) {
	return func(level thread.Level, text string) { m.notice(id, level, "%s", text) }
}

// begin counts a goroutine in, to be counted out with done; false once closed.
func (m *core) begin() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.busy++
	return true
}

// done counts a goroutine out. The last one after Close began ends the wait.
func (m *core) done() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy--
	if m.busy == 0 && m.drains && !m.closed {
		m.closed = true
		close(m.drained)
	}
}

// drain waits for running operations until ctx ends. Before that, while there is still time to spool their results, it
// stops waiting for the store.
func (m *core) drain(ctx context.Context) error {
	soon := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		soon, cancel = context.WithTimeout(ctx, time.Until(deadline)*3/4)
		defer cancel()
	}
	select {
	case <-m.drained:
		return nil
	case <-soon.Done():
		m.cancel()
	}
	select {
	case <-m.drained:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for running operations: %w", ctx.Err())
	}
}

// closes reports whether the server is about to stop.
func (m *core) closes() bool {
	select {
	case <-m.closing:
		return true
	default:
		return false
	}
}

// untilClosing returns a context that ends when Close begins, for slow work that nothing depends on.
func (m *core) untilClosing() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(m.ctx)
	go func() { // ends with the context
		select {
		case <-m.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// now is the time of the configured clock.
func (m *core) now() time.Time { return m.cfg.Clock() }

// env is the environment that a thread's agent starts from.
func (m *core) env(t thread.Thread) []string {
	if env := m.Environ(t.ID); env != nil {
		return slices.Concat(env, t.Launch.Env)
	}
	return slices.Concat(m.cfg.Env, t.Launch.Env)
}

// bring has a thread's agents begin with the environment of the person who starts it, until another one is brought.
func (m *core) bring(id thread.ID, env []string) {
	if env == nil {
		return
	}
	differs := thread.Differing(m.cfg.Env, env)
	if len(differs) == 0 {
		m.environs.Delete(id)
		return
	}
	m.environs.Store(id, brought{env, thread.EnvironUse{Shell: true, Differs: differs}})
}

// brought is the environment of a person's client.
type brought struct {
	env []string
	use thread.EnvironUse
}

// environUse says with which environment a thread's agents begin; nil for the server's.
func (m *core) environUse(id thread.ID) *thread.EnvironUse {
	b, ok := m.environs.Load(id)
	if !ok {
		return nil
	}
	use := b.(brought).use
	return &use
}

// Environ returns the environment that a person's client brought for a thread's agents, nil if there is none.
func (m *core) Environ(id thread.ID) []string {
	if b, ok := m.environs.Load(id); ok {
		return b.(brought).env
	}
	return nil
}

// stateDir is the folder for a thread's own files.
func (m *core) stateDir(id thread.ID) string {
	return filepath.Join(m.cfg.StateDir, "threads", string(id))
}

// attachments is the folder of files that a thread's agent is given to read.
func (m *core) attachments(id thread.ID) attachment.Folder {
	return attachment.At(filepath.Join(m.stateDir(id), "read"))
}

// rootOf is the root of a thread's worktree, or the project's folder.
func (m *core) rootOf(t thread.Thread) string { return cmp.Or(t.Worktree.Path, m.cfg.Project) }

// mcps names the MCP servers that are enabled for a thread.
func (m *core) mcps(id thread.ID) []string {
	if m.cfg.MCP == nil {
		return nil
	}
	return m.cfg.MCP.Enabled(id)
}

// promptKnown tells of a prompt whose words may switch MCP servers on, before the agent's next model request.
func (m *core) promptKnown(id thread.ID, text string) {
	if m.cfg.MCP != nil {
		m.cfg.MCP.Prompt(id, text)
	}
}

// MCPChanged tells clients that the MCP servers of a thread, or of all if id is empty, have changed.
func (m *core) MCPChanged(id thread.ID) {
	m.bus.Publish(thread.Event{At: m.now(), Kind: thread.EventMCP, ThreadID: id})
}

// intend stores that an operation of several steps begins.
func (m *core) intend(ctx context.Context, kind string, id thread.ID, data any) (thread.Intent, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return thread.Intent{}, fmt.Errorf("store the intent: %w", err)
	}
	i := thread.Intent{ID: thread.NewID[string](), Kind: kind, Thread: id, Data: raw, Created: m.now()}
	if err := m.cfg.Store.PutIntent(ctx, i); err != nil {
		return thread.Intent{}, fmt.Errorf("store the intent: %w", err)
	}
	return i, nil
}

// settled deletes an intent: the operation was completed or rolled back.
func (m *core) settled(ctx context.Context, i thread.Intent) error {
	if err := m.cfg.Store.DropIntent(ctx, i.ID); err != nil {
		return fmt.Errorf("delete the intent: %w", err)
	}
	return nil
}

// runsLines reports whether an agent's program may run what is typed into it. One that is not known may.
func (m *core) runsLines(agent string) bool {
	a, err := m.cfg.Agents.Agent(agent)
	return err != nil || thread.RunsLines(a)
}
