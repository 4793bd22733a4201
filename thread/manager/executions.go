package manager

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// Executions has the use cases of work that agents do without a terminal.
type Executions struct {
	cfg        *Config
	registry   *registry
	work       *work
	notices    *notices
	forks      *Forks
	open       *openRuns
	sessions   *workSessions
	dispatcher *dispatcher
}

// List returns executions, newest first.
func (m *Executions) List(ctx context.Context, q exec.Query) ([]exec.Execution, error) {
	if m.cfg.Runs.Store == nil {
		return []exec.Execution{}, nil
	}
	list, err := m.cfg.Runs.Store.Executions(ctx, q)
	for i, x := range list {
		list[i] = m.asShown(x)
	}
	return list, err
}

// asShown returns an execution with why it waits.
func (m *Executions) asShown(x exec.Execution) exec.Execution {
	if x.State == exec.Queued {
		if why := m.open.why(x.ID); why != "" {
			x.Reason = why
		}
	}
	return x
}

// Execution finds one by its id, its name, or a unique prefix of the name.
func (m *Executions) Execution(ctx context.Context, ref string) (exec.Execution, error) {
	if m.cfg.Runs.Store == nil || ref == "" {
		return exec.Execution{}, errNoExecution(ref)
	}
	x, err := m.cfg.Runs.Store.Execution(ctx, ref)
	switch {
	case errors.Is(err, thread.ErrNotFound):
		list, lerr := m.cfg.Runs.Store.Executions(ctx, exec.Query{Limit: 1000})
		if lerr != nil {
			return x, lerr
		}
		var known bool
		if x, known = named(list, ref); !known {
			return x, errNoExecution(ref)
		}
		err = nil
	case err != nil:
		if y, known := named(m.open.list(), ref); known {
			x, err = y, nil // one that is open must be found, and may be ended, whatever the store does
		}
	}
	return m.asShown(x), err
}

// named finds an execution by its id, its name, or a unique prefix of the name.
func named(list []exec.Execution, ref string) (exec.Execution, bool) {
	var begin []exec.Execution
	for _, x := range list {
		switch {
		case string(x.ID) == ref || x.Name == ref:
			return x, true
		case strings.HasPrefix(x.Name, ref):
			begin = append(begin, x)
		}
	}
	if len(begin) != 1 {
		return exec.Execution{}, false
	}
	return begin[0], true
}

// Events returns what is recorded of an execution after an event, oldest first.
func (m *Executions) Events(ctx context.Context, id exec.ID, after int64, limit int) ([]exec.Event, error) {
	if m.cfg.Runs.Store == nil {
		return nil, errNoExecution(string(id))
	}
	return m.cfg.Runs.Store.Events(ctx, id, after, limit)
}

// Follow returns what an execution reports, as events of the kind EventRun: what its running attempt has reported so far, its
// state, and what follows. The channel is closed after its end.
func (m *Executions) Follow(ctx context.Context, id exec.ID) (<-chan thread.Event, error) {
	if m.cfg.Runs.Store == nil {
		return nil, errNoExecution(string(id))
	}
	return m.open.follow(ctx, id)
}

// Cancel ends an execution at once, whether it waits or runs. When it returns that is stored, and its process is being
// ended. One that is cancelled already stays as it is.
func (m *Executions) Cancel(ctx context.Context, id exec.ID, why string) (exec.Execution, error) {
	if m.cfg.Runs.Store == nil {
		return exec.Execution{}, errNoExecution(string(id))
	}
	x, err := m.Execution(ctx, string(id))
	if err != nil {
		return x, err
	}
	l, err := m.registry.certain(ctx, x.Thread)
	if err != nil {
		return x, fmt.Errorf("cancel %s: %w", x.Name, err)
	}
	if l == nil {
		return x, fmt.Errorf("cancel %s: its thread: %w", x.Name, thread.ErrNotFound)
	}
	x, err = cancelRun(ctx, l, x, why)
	if errors.Is(err, errOver) {
		if x, err = m.cfg.Runs.Store.Execution(ctx, string(id)); err == nil && x.State != exec.Cancelled {
			err = thread.Kindf(thread.ErrNotRunning, "cancel %s: it is %s already", x.Name, x.State)
		}
	}
	return x, err
}

// Resume has a lost execution go on in its agent's session, or try again if that cannot be resumed.
func (m *Executions) Resume(ctx context.Context, id exec.ID) (exec.Execution, error) {
	if m.cfg.Runs.Store == nil {
		return exec.Execution{}, errNoExecution(string(id))
	}
	x, err := m.cfg.Runs.Store.Execution(ctx, string(id))
	if err != nil {
		return x, err
	}
	l, err := m.registry.certain(ctx, x.Thread)
	switch {
	case err != nil:
		return x, fmt.Errorf("resume %s: %w", x.Name, err)
	case x.State != exec.Lost:
		return x, thread.Hint(thread.Kindf(thread.ErrRefused, "resume %s: it is %s, not lost", x.Name, x.State),
			"send the thread another prompt with `orchestrator exec send`")
	case l == nil:
		return x, fmt.Errorf("resume %s: its thread: %w", x.Name, thread.ErrNotFound)
	}
	err = l.live.do(ctx, func(ctx context.Context) error {
		if err := accepts(l, l.live.thread()); err != nil {
			return err
		}
		return unlose(ctx, l, x)
	})
	if err != nil {
		return x, fmt.Errorf("resume %s: %w", x.Name, err)
	}
	return m.cfg.Runs.Store.Execution(ctx, string(id))
}

// Queue says what waits, what runs, and what bounds it.
func (m *Executions) Queue(context.Context) (exec.QueueReport, error) {
	return m.dispatcher.report(), nil
}

// SetQueue pauses or resumes the queue, or changes a limit. It holds over restarts.
func (m *Executions) SetQueue(ctx context.Context, c exec.QueueChange) (exec.QueueReport, error) {
	if c.Agent != "" {
		if _, err := m.cfg.Agents.Agent(c.Agent); err != nil {
			return exec.QueueReport{}, err
		}
	}
	if err := m.dispatcher.change(ctx, c); err != nil {
		return exec.QueueReport{}, err
	}
	return m.dispatcher.report(), nil
}

// Asking reports whether a request of an execution to its model has not ended.
func (m *Executions) Asking(id exec.ID) bool { return m.open.asking(id) }

// Pending reports whether executions wait or run: the server is needed.
func (m *Executions) Pending() bool { return m.open.any() }

// WorkSession returns a work session by its name.
func (m *Executions) WorkSession(ctx context.Context, name string) (exec.Session, error) {
	return m.sessions.of(ctx, name)
}

// Touched takes that the record was written, so that clients learn of it.
func (m *Executions) Touched(t exec.Touched) { m.sessions.Touched(t) }

// InSessions returns the names of the work sessions that threads belong to.
func (m *Executions) InSessions() map[thread.ID]string {
	in := map[thread.ID]string{}
	for _, l := range m.registry.index.all() {
		if t := l.thread(); t.Once.Session != "" {
			in[t.ID] = t.Once.Session
		}
	}
	return in
}
