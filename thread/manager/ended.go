package manager

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/activity"
)

// stop is the step that stops a thread's process, if one runs, and ends its execution.
func (l *run) stop(ctx context.Context, reason string) error {
	l.mu.Lock()
	s, x := l.session, l.execution
	l.stopping = s != nil
	l.mu.Unlock()
	if s == nil || x == nil {
		return nil
	}
	if err := s.Stop(ctx, l.cfg.Limits.Grace); err != nil {
		return fmt.Errorf("stop the agent of %s: %w", l.thread().Name, err)
	}
	l.exited(x.ID, thread.Exit{Reason: reason}) // for sessions that report their end later than this
	l.ended(ctx, x.ID)
	return nil
}

// stateChanged records a state that a session reports. It is called from the session's goroutine.
func (l *run) stateChanged(id thread.ExecutionID, r thread.StateReport) {
	l.mu.Lock()
	if l.execution == nil || l.execution.ID != id || l.exit != nil || !r.State.Live() {
		l.mu.Unlock() // exited reports the end, with its code
		return
	}
	waits := waiting(r.State) && !waiting(l.reported.State)
	trouble := r.State.Trouble() && !l.reported.State.Trouble()
	stuck := r.Stuck && !l.reported.Stuck
	l.reported = r
	poll := false
	if l.visibility.direct() && !l.polling {
		switch r.State {
		case thread.StateIdle, thread.StateDone, thread.StateApproval, thread.StateQuestion:
			// Held back like an answer through the gateway, until the transcript is read.
			poll, l.polling = true, true
			l.requests.Await()
		default:
		}
	}
	l.show()
	name := l.t.Name
	l.mu.Unlock()
	if trouble { // once, however often the agent retries
		l.notice(l.id, thread.LevelWarn, "%s: %s", name, troubleText(r))
	}
	if stuck {
		l.enqueue(func() { l.markUnseen(l.ctx) })
	}
	l.scheduleTyping()
	if _, idle := idleSince(r); idle {
		l.checkIdle()
		l.lookAround()
	}
	if waits {
		l.enqueue(func() { l.closeIfLeft() })
	}
	if poll && !l.enqueue(func() { l.pollStep() }) {
		l.release()
	}
}

// pollStep is the step that reads the transcript of a thread without a gateway.
func (l *run) pollStep() {
	l.mu.Lock()
	l.polling = false
	l.mu.Unlock()
	l.findSession()
	l.recorder.Poll(l.ctx)
	l.release()
}

// leaveAfter is how long an agent must wait for a prompt before its unfinished turn counts as abandoned: between the
// end of a tool and the next request the screen may look as if it did.
const leaveAfter = 2 * time.Second

// closeIfLeft is the step that checks whether an agent waits in the middle of a turn: the person interrupted it, and no
// answer will end the turn.
func (l *run) closeIfLeft() {
	if !l.recorder.Open() {
		return
	}
	l.mu.Lock()
	requests := l.requests.Begun()
	l.mu.Unlock()
	l.later(leaveAfter, func() {
		l.mu.Lock()
		left := l.session != nil && waiting(l.reported.State) && l.requests.Begun() == requests && !l.requests.InFlight()
		l.mu.Unlock()
		if left {
			l.recorder.Leave(l.ctx)
		}
	})
}

// exited handles the end of a process; from here on the thread shows no running agent.
func (l *run) exited(id thread.ExecutionID, e thread.Exit) {
	l.mu.Lock()
	if l.execution == nil || l.execution.ID != id || l.exit != nil {
		l.mu.Unlock()
		return
	}
	if l.stopping && e.Reason == "" {
		e.Reason = "stopped"
	}
	e.Screen = thread.Excerpt(e.Screen)
	l.exit, l.session = &e, nil
	l.amid = l.requests.InFlight() || l.reported.State == thread.StateWorking || l.reported.State == thread.StateSilent
	l.t.Interrupted, l.t.Exit = l.lost(e), e
	l.show()
	l.mu.Unlock()
	if e.Limit {
		l.notice(l.id, thread.LevelWarn, "%s: %s", l.thread().DisplayName(), e.Reason)
	}
	l.enqueue(func() { l.ended(l.ctx, id) })
}

// lost reports whether a process ended in a way that leaves something to resume: it was stopped with the server, or
// nobody asked for its end and it was killed or in the middle of a turn. One that ends by itself otherwise has exited.
// core.mu is held.
func (l *run) lost(e thread.Exit) bool {
	if l.stopping && l.closes() {
		return true
	}
	return !l.stopping && e.Code != 0 && (l.amid || e.Limit || e.Killed())
}

// ended is the step that records the end of a process, once.
func (l *run) ended(ctx context.Context, id thread.ExecutionID) {
	l.mu.Lock()
	if l.execution == nil || l.execution.ID != id || l.exit == nil {
		l.mu.Unlock()
		return
	}
	exit, asked, direct, cost := *l.exit, l.stopping, l.visibility.direct(), l.sideCost
	interrupted := l.lost(exit)
	l.mu.Unlock()
	if direct {
		l.findSession()
		l.recorder.Poll(ctx) // read its last output
	}
	l.recorder.Flush(ctx)
	if l.cfg.MCP != nil {
		l.cfg.MCP.Ended(l.id)
	}
	if l.Gateway != nil {
		l.Gateway.Rest(l.id)
	}
	l.interruptPrompts(ctx, "the agent exited: "+activity.Exit(exit), !asked && !exit.Killed() && !exit.Limit)
	interrupted = interrupted || !asked && exit.Code != 0 && l.recorder.Amid()
	err := l.update(ctx, func(t *thread.Thread) error {
		t.Interrupted, t.Exit = interrupted, exit
		t.Gauge.CostUSD += cost
		return nil
	})
	if err == nil {
		l.mu.Lock()
		l.sideCost -= cost
		l.mu.Unlock()
	} else if !errors.Is(err, thread.ErrNotFound) {
		l.notice(l.id, thread.LevelWarn, "cannot record that the agent exited: %v", err)
	}
	// If this fails the run stays open, and the next start marks the thread as interrupted.
	if err := l.cfg.Store.EndExecution(ctx, id, l.now(), exit); err != nil {
		l.cfg.Log.Error("end a run", "thread", string(l.id), "err", err)
	}
	l.mu.Lock()
	l.execution, l.stopping = nil, false
	l.show()
	l.mu.Unlock()
	if interrupted && !l.closes() { // the next start proves it
		l.prove(ctx)
	}
}

// troubleText describes for people what is wrong.
func troubleText(r thread.StateReport) string {
	what := map[thread.State]string{
		thread.StateUnauthorised: "the provider rejects the credentials", thread.StateLimited: "rate limited by the provider",
		thread.StateUnavailable: "the provider is failing", thread.StateUnreachable: "the provider cannot be reached",
		thread.StateCut: "the provider cut off its answer", thread.StateFailed: "the agent cannot continue",
	}[r.State]
	if !r.Until.IsZero() {
		what += " until " + r.Until.Local().Format(time.TimeOnly)
	}
	if why := r.Why(); why != "" {
		what += ": " + why
	}
	return what
}
