package thread

import (
	"context"
	"fmt"
	"time"
)

const (
	// doubt is how long a report of work that nothing else bears out may take to be overtaken.
	doubt = 5 * time.Second
	// doubtStep is how often it is looked at.
	doubtStep = 20 * time.Millisecond
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
	case StateApproval, StateQuestion:
		busy = true
	case StateUnknown:
		busy = busy || open
	default:
	}
	if busy {
		return Hint(fmt.Errorf("%s is in the middle of a turn (%s): %w", l.t.Name, orWord(l.shown.Why(), string(l.shown.State)), ErrBusy), "wait for its answer, or interrupt it first")
	}
	return nil
}

// notWorking is the step that is an error while a thread's agent changes files.
func (l *line) notWorking(ctx context.Context) error {
	if l.works(ctx) {
		return Hint(fmt.Errorf("%s is working in the folder to merge into: %w", l.thread().Name, ErrBusy), "wait for its answer")
	}
	return nil
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
		works := l.session != nil && (l.flying > 0 || l.shown.State == StateWorking || l.session.State().State == StateWorking)
		certain = certain || l.direct || l.flying > 0 || l.unstored > 0
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
