package thread

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// StopAgent stops a thread's agent. The thread can be started again where it left off.
func (m *Manager) StopAgent(ctx context.Context, ref string) error {
	l, err := m.find(ref)
	if err != nil {
		return err
	}
	return l.do(ctx, func(ctx context.Context) error {
		if l.running() == nil {
			return fmt.Errorf("stop %s: %w", l.thread().Name, ErrNotRunning)
		}
		return l.stop(ctx, "stopped")
	})
}

// stop is the step that ends a thread's process, if one runs, and its execution.
func (l *line) stop(ctx context.Context, reason string) error {
	l.m.mu.Lock()
	s, x := l.session, l.execution
	l.stopping = s != nil
	l.m.mu.Unlock()
	if s == nil || x == nil {
		return nil
	}
	if err := s.Stop(ctx, l.m.cfg.Limits.Grace); err != nil {
		return fmt.Errorf("stop the agent of %s: %w", l.thread().Name, err)
	}
	l.exited(x.ID, Exit{Reason: reason}) // for sessions that tell their end later than this
	l.ended(ctx, x.ID)
	return nil
}

// stateChanged takes over what a session reports. It comes from the session's goroutine.
func (l *line) stateChanged(id ExecutionID, r StateReport) {
	m := l.m
	m.mu.Lock()
	if l.execution == nil || l.execution.ID != id || l.exit != nil {
		m.mu.Unlock()
		return
	}
	waits := waiting(r.State) && !waiting(l.reported.State)
	l.reported = r
	poll := false
	if l.direct && !l.polling {
		switch r.State {
		case StateIdle, StateDone, StateApproval, StateQuestion:
			// Held back like an answer through the gateway, until its transcript is read.
			poll, l.polling = true, true
			l.unstored++
		default:
		}
	}
	m.show(l)
	tell := l.hasToTell() && (l.shown.State == StateIdle || l.shown.State == StateDone)
	m.mu.Unlock()
	if tell {
		l.enqueue(func() { l.deliver(m.ctx) })
	}
	if waits {
		l.enqueue(func() { l.leave() })
	}
	if poll && !l.enqueue(func() { l.poll() }) {
		l.stored(1)
	}
}

// waiting reports whether an agent in this state waits for a prompt.
func waiting(s State) bool { return s == StateIdle || s == StateDone }

// leaveAfter is how long an agent must wait for a prompt before its unfinished turn counts as left:
// between a tool's end and the next request a screen may look as if it did.
const leaveAfter = 2 * time.Second

// leave is the step that looks whether an agent waits in the middle of a turn: the person
// interrupted it, and no answer will come to end the turn.
func (l *line) leave() {
	if !l.rec.open() {
		return
	}
	l.m.mu.Lock()
	requests := l.requests
	l.m.mu.Unlock()
	l.later(leaveAfter, func() {
		l.m.mu.Lock()
		left := l.session != nil && waiting(l.reported.State) && l.requests == requests && l.flying == 0
		l.m.mu.Unlock()
		if left {
			l.rec.leave(l.m.ctx, l)
		}
	})
}

// exited hears the end of a process; from here on the thread shows no running agent.
func (l *line) exited(id ExecutionID, e Exit) {
	m := l.m
	m.mu.Lock()
	if l.execution == nil || l.execution.ID != id || l.exit != nil {
		m.mu.Unlock()
		return
	}
	if l.stopping && e.Reason == "" {
		e.Reason = "stopped"
	}
	l.exit, l.session = &e, nil
	if lost(e, l.stopping) {
		l.t.Interrupted = true
	}
	m.show(l)
	m.mu.Unlock()
	if e.Limit {
		m.notice(l.id, LevelWarn, "%s: %s", l.thread().Name, e.Reason)
	}
	l.enqueue(func() { l.ended(m.ctx, id) })
}

// lost reports whether a process ended in a way nobody asked for.
func lost(e Exit, asked bool) bool { return !asked && e.Code != 0 }

// ended is the step that records the end of a process, once.
func (l *line) ended(ctx context.Context, id ExecutionID) {
	m := l.m
	m.mu.Lock()
	if l.execution == nil || l.execution.ID != id || l.exit == nil {
		m.mu.Unlock()
		return
	}
	exit, asked, direct, cost := *l.exit, l.stopping, l.direct, l.sideCost
	m.mu.Unlock()
	if direct {
		l.rec.poll(ctx, l) // what it wrote last
	}
	l.rec.flush(ctx, l)
	interrupted := lost(exit, asked)
	err := l.update(ctx, func(t *Thread) error {
		t.Interrupted = interrupted
		t.Gauge.CostUSD += cost
		return nil
	})
	if err == nil {
		m.mu.Lock()
		l.sideCost -= cost
		m.mu.Unlock()
	} else if !errors.Is(err, ErrNotFound) {
		m.notice(l.id, LevelWarn, "the end of the agent could not be stored: %v", err)
	}
	// When this fails the run stays open, and the next start names the thread as interrupted.
	if err := m.cfg.Store.EndExecution(ctx, id, m.now(), exit); err != nil {
		m.cfg.Log.Error("end a run", "thread", string(l.id), "err", err)
	}
	m.mu.Lock()
	l.execution, l.stopping = nil, false
	m.show(l)
	m.mu.Unlock()
	if interrupted {
		l.prove(ctx)
	}
}

// exitDetail says for people how a process ended.
func exitDetail(e Exit) string {
	switch {
	case e.Reason != "" && e.Code != 0:
		return fmt.Sprintf("%s, code %d", e.Reason, e.Code)
	case e.Reason != "":
		return e.Reason
	case e.Code > 128:
		return fmt.Sprintf("ended by signal %d", e.Code-128)
	default:
		return fmt.Sprintf("ended with code %d", e.Code)
	}
}
