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
	"orchestrator/thread/fair"
	"orchestrator/thread/handout"
	"orchestrator/thread/manager/events"
	"orchestrator/thread/manager/past"
	"orchestrator/thread/secret"
)

// core is what every part of the Manager stands on: the configuration, the bus of events, the count of what is under
// way, and the lock.
type core struct {
	// Gateway carries the model requests; set before Open, because a gateway wants its Observer,
	// which the Manager is. Nil means that agents speak to their providers themselves.
	Gateway thread.Gateway

	cfg  Config
	past past.Reader // what is stored
	bus  events.Bus

	ctx     context.Context // of steps and background work; ends when Close gives up waiting
	cancel  context.CancelFunc
	closing chan struct{} // closed when Close begins
	hands   *fair.Line    // that type prompts
	drained chan struct{} // closed when nothing is under way any more, after Close began

	// mu guards what follows, the roll and the marked fields of every line; held for moments only, never while a port
	// is called.
	mu     sync.Mutex
	busy   int  // goroutines under way: queues at work, timers, prompts on their way
	drains bool // Close waits for busy to be 0
	closed bool // nothing new may begin
	starts int  // agents being started, for the limit
}

// newCore fills in what the configuration leaves out.
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
		closing: make(chan struct{}), hands: fair.NewLine(typedAtOnce, typingShare), drained: make(chan struct{}),
	}
	m.past = past.Reader{Store: cfg.Store, Codec: cfg.Reader, Differ: cfg.Differ, Log: cfg.Log}
	m.bus.StartAfter(cfg.Clock().UnixMicro()) // numbers of an earlier run are smaller
	return m
}

// The prompts of a server that are typed at a time, and for how long one is that others wait for: an agent's input is
// watched closely meanwhile, and an agent that gets no processor takes none.
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

// errClosed answers what is asked after Close.
var errClosed = fmt.Errorf("the server is stopping: %w", thread.ErrNotRunning)

// notice tells people something, about a thread where id is set.
func (m *core) notice(id thread.ID, level thread.Level, format string, args ...any) {
	text := secret.Redact(fmt.Sprintf(format, args...))
	m.cfg.Log.Info("notice", "thread", string(id), "level", string(level), "text", text)
	if m.cfg.Heard != nil {
		m.cfg.Heard(level, text)
	}
	m.bus.Publish(thread.Event{At: m.now(), Kind: thread.EventNotice, ThreadID: id, Notice: &thread.Notice{Level: level, Text: text}})
}

// about tells people something about a thread.
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

// done counts a goroutine out. The last one after Close began shuts the door.
func (m *core) done() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy--
	if m.busy == 0 && m.drains && !m.closed {
		m.closed = true
		close(m.drained)
	}
}

// drain waits for what is under way until ctx ends. Before that, while there is still time to keep what comes of
// it in the spool, it stops waiting for the store.
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
		return fmt.Errorf("wait for what is under way: %w", ctx.Err())
	}
}

// closes reports whether the server is about to end.
func (m *core) closes() bool {
	select {
	case <-m.closing:
		return true
	default:
		return false
	}
}

// untilClosing is a context that ends when Close begins: for what may take long and nothing depends on.
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

// now is the time of the injected clock.
func (m *core) now() time.Time { return m.cfg.Clock() }

// env is the environment a thread's agent starts from.
func (m *core) env(t thread.Thread) []string { return slices.Concat(m.cfg.Env, t.Launch.Env) }

// stateDir is the folder for a thread's own files.
func (m *core) stateDir(id thread.ID) string {
	return filepath.Join(m.cfg.StateDir, "threads", string(id))
}

// handedOut is the folder of what a thread's agent is named.
func (m *core) handedOut(id thread.ID) handout.Folder {
	return handout.At(filepath.Join(m.stateDir(id), "read"))
}

// rootOf is the folder that a thread's worktree, or the project, begins at.
func (m *core) rootOf(t thread.Thread) string { return cmp.Or(t.Worktree.Path, m.cfg.Project) }

// mcps names the MCP servers that are on for a thread.
func (m *core) mcps(id thread.ID) []string {
	if m.cfg.EnabledMCPs == nil {
		return nil
	}
	return m.cfg.EnabledMCPs(id)
}

// intend writes down that an operation of several steps begins.
func (m *core) intend(ctx context.Context, kind string, id thread.ID, data any) (thread.Intent, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return thread.Intent{}, fmt.Errorf("write down the intent: %w", err)
	}
	i := thread.Intent{ID: thread.NewID[string](), Kind: kind, Thread: id, Data: raw, Created: m.now()}
	if err := m.cfg.Store.PutIntent(ctx, i); err != nil {
		return thread.Intent{}, fmt.Errorf("write down the intent: %w", err)
	}
	return i, nil
}

// settled drops an intent: the operation is whole, or wholly taken back.
func (m *core) settled(ctx context.Context, i thread.Intent) error {
	if err := m.cfg.Store.DropIntent(ctx, i.ID); err != nil {
		return fmt.Errorf("drop the intent: %w", err)
	}
	return nil
}
