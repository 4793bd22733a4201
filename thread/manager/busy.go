package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread"
)

const (
	// doubt is how long a report of work that nothing else bears out may take to be overtaken.
	doubt = 5 * time.Second
	// doubtStep is how often it is looked at.
	doubtStep = 20 * time.Millisecond
	// noteLimit is how long a merge waits for the answer to a note of ours.
	noteLimit = time.Minute
)

// idle is the step that is an error while a turn of the thread runs.
func (l *line) idle(ctx context.Context) error {
	busy := l.works(ctx)
	open := l.amidTurn()
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.session == nil {
		return nil
	}
	switch l.shown.State {
	case thread.StateApproval, thread.StateQuestion:
		busy = true
	case thread.StateUnknown:
		busy = busy || open
	default:
	}
	if busy {
		return thread.Hint(fmt.Errorf("%s is in the middle of a turn (%s): %w", l.t.Name, cmp.Or(l.shown.Why(), string(l.shown.State)), thread.ErrBusy), "wait for its answer, or interrupt it first")
	}
	return nil
}

// notWorking is the step that is an error while a thread's agent changes files.
func (l *line) notWorking(ctx context.Context) error {
	if l.works(ctx) {
		return thread.Hint(fmt.Errorf("%s is working in the folder to merge into: %w", l.thread().Name, thread.ErrBusy), "wait for its answer")
	}
	return nil
}

// awaitNote is an error while a thread's agent changes files. A turn that answers a note of ours is waited for: else a
// merge would be in the way of the next one.
func (m *Manager) awaitNote(ctx context.Context, l *line) error {
	ctx, cancel := context.WithTimeout(ctx, noteLimit)
	defer cancel()
	events := m.bus.Subscribe(ctx)
	for {
		noted := l.answersNote()
		err := l.do(ctx, l.notWorking)
		if !noted && !l.answersNote() || err != nil && !errors.Is(err, thread.ErrBusy) {
			return err
		}
		for heard := false; !heard; {
			e, more := <-events
			if !more {
				return err
			}
			heard = e.ThreadID == l.id
		}
	}
}

// answersNote reports whether the agent is at a note of ours, or is just being told it.
func (l *line) answersNote() bool {
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	return l.desk.Any(func(p thread.Prompt) bool {
		return p.From == thread.FromNote && (p.State == thread.PromptTyping || p.State == thread.PromptOpen)
	})
}

// amidTurn reports whether the record has a turn that was begun, not ended and not cut off.
func (l *line) amidTurn() bool { return l.rec.open() && !l.rec.cut }

// works reports whether the agent works; it belongs to the line's steps. When the turn has ended and
// no request is on its way, only the agent's own word says so. That word may be older than the answer
// that ended the work, for it comes through the terminal or a hook's process, or the agent may not
// have drawn its prompt yet: it is given a moment to be overtaken.
func (l *line) works(ctx context.Context) bool {
	certain := l.amidTurn()
	tick := time.NewTicker(doubtStep)
	defer tick.Stop()
	limit := time.NewTimer(doubt)
	defer limit.Stop()
	for {
		l.m.mu.Lock()
		works := l.session != nil && (l.requests.Flying() || l.shown.Works() || l.session.State().Works())
		certain = certain || l.direct || l.requests.Flying() || l.requests.Unstored()
		l.m.mu.Unlock()
		if !works || certain {
			return works
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return true
		case <-l.m.closing:
			return true
		case <-ctx.Done():
			return true
		}
	}
}
