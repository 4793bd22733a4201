package manager

import (
	"cmp"
	"context"
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
func (l *run) idle(ctx context.Context) error {
	busy := l.works(ctx)
	amid := l.recorder.Amid()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == nil {
		return nil
	}
	switch l.shown.State {
	case thread.StateApproval, thread.StateQuestion:
		busy = true
	case thread.StateUnknown:
		busy = busy || amid
	default:
	}
	if busy {
		return thread.Hint(fmt.Errorf("%s is in the middle of a turn (%s): %w", l.t.Name, cmp.Or(l.shown.Why(), string(l.shown.State)), thread.ErrBusy), "wait for its answer, or interrupt it first")
	}
	return nil
}

// notWorking is the step that is an error while a thread's agent changes files.
func (l *run) notWorking(ctx context.Context) error {
	if l.works(ctx) {
		return thread.Hint(fmt.Errorf("%s is working in the folder to merge into: %w", l.thread().Name, thread.ErrBusy), "wait for its answer")
	}
	return nil
}

// works reports whether the agent works; it belongs to the line's steps. When the turn has ended and
// no request is on its way, only the agent's own word says so. That word may be older than the answer
// that ended the work, for it comes through the terminal or a hook's process, or the agent may not
// have drawn its prompt yet: it is given a moment to be overtaken.
func (l *run) works(ctx context.Context) bool {
	certain := l.recorder.Amid()
	tick := time.NewTicker(doubtStep)
	defer tick.Stop()
	limit := time.NewTimer(doubt)
	defer limit.Stop()
	for {
		l.mu.Lock()
		works := l.session != nil && (l.requests.Flying() || l.shown.Works() || l.session.State().Works())
		certain = certain || l.sight.direct() || l.requests.Flying() || l.requests.Unstored()
		l.mu.Unlock()
		if !works || certain {
			return works
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return true
		case <-l.closing:
			return true
		case <-ctx.Done():
			return true
		}
	}
}
