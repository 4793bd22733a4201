package manager

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"orchestrator/thread"
)

const (
	// doubt is how long an uncorroborated report of work is given to be superseded.
	doubt = 5 * time.Second
	// doubtStep is how often it is checked.
	doubtStep = 20 * time.Millisecond
	// noteLimit is how long a merge waits for the answer to one of our notes.
	noteLimit = time.Minute
)

// idle is a step that returns an error while a turn of the thread runs.
func (l *run) idle(ctx context.Context) error {
	busy := l.works(ctx)
	amid := l.recorder.Amid()
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	if a := l.attempt; a != nil {
		return thread.Hint(fmt.Errorf("%s works in %s: %w", a.name, l.live.t.Name, thread.ErrBusy),
			"wait for its end, or cancel it with `orchestrator exec cancel "+a.name+"`")
	}
	if l.live.session == nil {
		return nil
	}
	switch l.live.shown.State {
	case thread.StateApproval, thread.StateQuestion:
		busy = true
	case thread.StateUnknown:
		busy = busy || amid
	default:
	}
	if busy {
		return thread.Hint(fmt.Errorf("%s is in the middle of a turn (%s): %w", l.live.t.Name,
			cmp.Or(l.live.shown.Why(), string(l.live.shown.State)), thread.ErrBusy), "wait for its answer, or interrupt it first")
	}
	return nil
}

// notWorking is a step that returns an error while a thread's agent changes files.
func (l *run) notWorking(ctx context.Context) error {
	if l.works(ctx) {
		return thread.Hint(
			fmt.Errorf("%s is working in the folder of the target branch: %w", l.live.thread().Name, thread.ErrBusy),
			"wait for its answer")
	}
	return nil
}

// works reports whether the agent works; it must be called in a step of the thread. When the turn has ended and no
// request is in flight, only the agent's own report says so. That report may be older than the answer that ended the
// work, because it comes through the terminal or a hook's process, or the agent may not have drawn its prompt yet: it
// gets a moment to be superseded.
func (l *run) works(ctx context.Context) bool {
	certain := l.recorder.Amid()
	tick := time.NewTicker(doubtStep)
	defer tick.Stop()
	limit := time.NewTimer(doubt)
	defer limit.Stop()
	for {
		l.live.mu.Lock()
		works := l.live.session != nil && (l.live.requests.InFlight() || l.live.shown.Works() || l.live.session.State().Works())
		certain = certain || l.live.visibility.direct() || l.live.requests.InFlight() || l.live.requests.Unstored()
		l.live.mu.Unlock()
		if !works || certain {
			return works
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return true
		case <-l.work.closing.Done():
			return true
		case <-ctx.Done():
			return true
		}
	}
}
