package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"orchestrator/thread"
)

// Agents has the use cases that start, resume and stop agents.
type Agents struct {
	cfg      *Config
	registry *registry
	starts   *starts
}

// Start starts a thread's agent where it left off.
func (m *Agents) Start(ctx context.Context, ref string, cols, rows int) (thread.Status, error) {
	return m.Resume(ctx, ref, thread.ResumeRequest{Cols: cols, Rows: rows})
}

func (m *Agents) startLine(ctx context.Context, l *run, r launchRequest) (thread.Status, error) {
	err := l.live.do(ctx, func(ctx context.Context) error { return l.start(ctx, r) })
	return l.live.current(), err
}

// Resume starts a thread's agent where it left off.
func (m *Agents) Resume(ctx context.Context, ref string, r thread.ResumeRequest) (thread.Status, error) {
	l, err := m.registry.find(ref)
	if err != nil {
		return thread.Status{}, err
	}
	return m.startLine(ctx, l, launchRequest{cols: r.Cols, rows: r.Rows, handOver: r.HandOver, env: thread.Environ(ctx)})
}

// ResumeAll resumes every interrupted thread that is still in use. The error lists those that cannot be resumed; the
// others run all the same.
func (m *Agents) ResumeAll(ctx context.Context, cols, rows int) ([]thread.Status, error) {
	var lines []*run
	for _, l := range m.registry.all() {
		t := l.live.thread()
		if t.Interrupted && l.live.running() == nil &&
			t.Deleted.IsZero() && t.Archived.IsZero() && t.Outcome.Kind == thread.OutcomeNone {
			lines = append(lines, l)
		}
	}
	list := []thread.Status{}
	var errs []error
	for _, l := range lines {
		s, err := m.startLine(ctx, l, launchRequest{cols: cols, rows: rows, env: thread.Environ(ctx)})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, s)
	}
	return list, errors.Join(errs...)
}

// Stop stops a thread's agent. The thread can be started again where it left off.
func (m *Agents) Stop(ctx context.Context, ref string) error {
	l, err := m.registry.find(ref)
	if err != nil {
		return err
	}
	return l.live.do(ctx, func(ctx context.Context) error {
		if l.live.running() == nil {
			return fmt.Errorf("stop %s: %w", l.live.thread().Name, thread.ErrNotRunning)
		}
		return l.stop(ctx, "stopped")
	})
}

// ready rejects an agent that cannot be started, before a new thread and its worktree are created for it. One without a
// terminal waits for its turn.
func (m *Agents) ready(ctx context.Context, t thread.Thread) error {
	if !t.Once.On {
		release, err := m.starts.take()
		if err != nil {
			return err
		}
		release() // start takes its own
	}
	if len(t.Launch.Env) > 0 || thread.Environ(ctx) != nil {
		return nil // with its own PATH an agent may be found that is not found here
	}
	agent, err := m.cfg.Agents.Agent(t.Agent)
	if err != nil {
		return err
	}
	d, ok := agent.(thread.Detector)
	if !ok {
		return nil
	}
	switch info := d.Detect(ctx); {
	case !info.Found:
		return thread.Hint(fmt.Errorf("%s: %s: %w", t.Agent, cmp.Or(info.Problem, "not found"), thread.ErrNotFound),
			info.Hint)
	case info.Problem != "":
		return thread.Hint(fmt.Errorf("%s: %s: %w", t.Agent, info.Problem, thread.ErrUnsupported), info.Hint)
	}
	return nil
}
