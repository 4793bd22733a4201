package manager

import (
	"context"
	"fmt"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/activity"
	"orchestrator/thread/manager/outbox"
)

// line is one thread with what is true of it right now. What takes time happens in its work queue,
// one step after the other: recording answers, starting, stopping, rewinding. A step may take
// Manager.mu for a moment; it never waits for another line's queue.
//
// Lock order: line.reporting or line.desk.mu, then line.queue.mu, then Manager.mu, then events.Bus.mu.
type line struct {
	m  *Manager
	id thread.ID

	queue queue

	// reporting makes "is this still true" and the report to the session one step, so that an old
	// answer's idle never overtakes a new request's working.
	reporting sync.Mutex

	// The fields below are guarded by Manager.mu.

	t         thread.Thread
	gone      bool // purged
	execution *thread.Execution
	session   thread.Session
	exit      *thread.Exit       // of the execution, once it ended and was not recorded yet
	reported  thread.StateReport // by the session
	shown     thread.StateReport // to people, see Manager.show
	proof     *thread.ResumeProof
	published *thread.Status
	requests  activity.Requests // main ones; an older answer's idle does not count
	trouble   string            // why they are not, while the store refuses
	pending   int               // checkpoints that the store has refused so far
	unsaved   int               // those of them that the spool does not have either
	direct    bool              // runs without the gateway: its transcript is polled
	polling   bool              // a poll is queued
	stopping  bool              // we asked it to end
	amid      bool              // it ended while it worked
	silent    bool              // nothing tells what its agent answers
	unread    bool              // nothing but its requests tells what its agent does
	judging   bool              // what the agent took is looked at after a while
	awaiting  bool              // the end of a limit is waited for
	asked     outbox.Glance     // what others see of the desk
	sideCost  float64
	windows   map[string]int64 // that the agent is configured with; replaced, never changed

	furnishing bool // its worktree's setup runs

	// rec belongs to the queue's steps alone.
	rec record
	// desk has a lock of its own: what is asked does not wait for the queue.
	desk desk
}

// queue runs functions one after the other in a goroutine that lives while there are any.
type queue struct {
	mu      sync.Mutex // guards the fields
	steps   []func()
	running bool
}

// enqueue adds a step; false when the manager has closed.
func (l *line) enqueue(step func()) bool {
	l.queue.mu.Lock()
	defer l.queue.mu.Unlock()
	if !l.queue.running {
		if !l.m.begin() {
			return false
		}
		l.queue.running = true
		go l.work()
	}
	l.queue.steps = append(l.queue.steps, step)
	return true
}

// work runs the queue until it is empty.
func (l *line) work() {
	defer l.m.done()
	for {
		l.queue.mu.Lock()
		if len(l.queue.steps) == 0 {
			l.queue.steps, l.queue.running = nil, false
			l.queue.mu.Unlock()
			return
		}
		step := l.queue.steps[0]
		l.queue.steps[0] = nil // what it holds is free for others
		l.queue.steps = l.queue.steps[1:]
		l.queue.mu.Unlock()
		step()
	}
}

// do runs a use case as a step and waits for it. A client that leaves does not cut it in half:
// the step has the manager's own context.
func (l *line) do(ctx context.Context, step func(ctx context.Context) error) error {
	done := make(chan error, 1)
	ok := l.enqueue(func() {
		if l.isGone() {
			done <- fmt.Errorf("thread %s: %w", l.id, thread.ErrNotFound)
			return
		}
		done <- step(l.m.ctx)
	})
	if !ok {
		return errClosed
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("wait for the thread: %w", ctx.Err())
	}
}

func (l *line) isGone() bool {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	return l.gone
}

// thread returns the thread as it is now.
func (l *line) thread() thread.Thread {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	return l.t
}

// running returns the session, nil when no process runs.
func (l *line) running() thread.Session {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	return l.session
}

// update changes the stored thread and shows what came of it.
func (l *line) update(ctx context.Context, change func(*thread.Thread) error) error {
	t, err := l.m.cfg.Store.UpdateThread(ctx, l.id, func(t *thread.Thread) error {
		if err := change(t); err != nil {
			return err
		}
		t.Updated = l.m.now()
		return nil
	})
	if err != nil {
		return err
	}
	l.set(t)
	return nil
}

// set takes over a thread that was read from or written to the store.
func (l *line) set(t thread.Thread) {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	l.t = t
	l.m.show(l)
}

// reread takes over the thread as the store has it.
func (l *line) reread(ctx context.Context) error {
	t, err := l.m.cfg.Store.Thread(ctx, l.id)
	if err != nil {
		return err
	}
	l.set(t)
	return nil
}

// report tells the session evidence; nothing when none runs.
func (l *line) report(e thread.Evidence) {
	l.reporting.Lock()
	defer l.reporting.Unlock()
	if s := l.running(); s != nil {
		s.Report(e)
	}
}

// reportUnless tells the session evidence unless another main request has begun since.
func (l *line) reportUnless(requests int, e thread.Evidence) {
	l.reporting.Lock()
	defer l.reporting.Unlock()
	l.m.mu.Lock()
	s, newer := l.session, l.requests.Begun() != requests
	l.m.mu.Unlock()
	if s != nil && !newer {
		s.Report(e)
	}
}

// later runs a step after a while, unless the manager closes before.
func (l *line) later(wait time.Duration, step func()) {
	if !l.m.begin() {
		return
	}
	go func() {
		defer l.m.done()
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
			l.enqueue(step)
		case <-l.m.closing:
		}
	}()
}
