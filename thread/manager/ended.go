package manager

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/activity"
)

// stop is the step that stops a thread's process, if one runs, and ends its execution.
func (l *run) stop(ctx context.Context, reason string) error {
	l.live.mu.Lock()
	s, x := l.live.session, l.live.execution
	if s != nil {
		l.live.ending = asked
	}
	l.live.mu.Unlock()
	if s == nil || x == nil {
		endNow(ctx, l)
		return nil
	}
	if err := s.Stop(ctx, l.cfg.Limits.Grace); err != nil {
		return fmt.Errorf("stop the agent of %s: %w", l.live.thread().Name, err)
	}
	l.exited(x.ID, thread.Exit{Reason: reason}) // for sessions that report their end later than this
	l.ended(ctx, x.ID)
	return nil
}

// stateChanged records a state that a session reports. It is called from the session's goroutine.
func (l *run) stateChanged(id thread.ExecutionID, r thread.StateReport) {
	l.live.mu.Lock()
	if l.live.execution == nil || l.live.execution.ID != id || l.live.exit != nil || !r.State.Live() {
		l.live.mu.Unlock() // exited reports the end, with its code
		return
	}
	waits := waiting(r.State) && !waiting(l.live.reported.State)
	trouble := r.State.Trouble() && !l.live.reported.State.Trouble()
	stuck := r.Stuck && !l.live.reported.Stuck
	l.live.reported = r
	poll := false
	if l.live.visibility.direct() {
		switch r.State {
		case thread.StateIdle, thread.StateDone, thread.StateApproval, thread.StateQuestion:
			if poll = l.live.polling.take(); poll { // held back like an answer through the gateway, until it is read
				l.live.requests.Await()
			}
		default:
		}
	}
	l.live.show()
	name := l.live.t.Name
	l.live.mu.Unlock()
	l.live.hooks.shows(r)
	if trouble { // once, however often the agent retries
		l.notices.post(l.live.id, thread.LevelWarn, "%s: %s", name, troubleText(r))
	}
	if stuck {
		l.live.enqueue(func() { l.live.markUnseen(l.work.ctx) })
	}
	l.typist.wake()
	if _, idle := idleSince(r); idle {
		l.typist.checkIdle()
		l.lookAround()
	}
	if waits {
		l.live.enqueue(func() { l.closeIfLeft() })
	}
	if poll && !l.live.enqueue(func() { l.pollStep() }) {
		l.typist.release()
	}
}

// pollStep is the step that reads the transcript of a thread without a gateway.
func (l *run) pollStep() {
	l.live.mu.Lock()
	l.live.polling.release()
	l.live.mu.Unlock()
	l.findSession()
	l.recorder.Poll(l.work.ctx)
	l.typist.release()
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
	l.live.mu.Lock()
	requests := l.live.requests.Begun()
	l.live.mu.Unlock()
	l.live.later(leaveAfter, func() {
		l.live.mu.Lock()
		left := l.live.session != nil && waiting(l.live.reported.State) && l.live.requests.Begun() == requests && !l.live.requests.InFlight()
		l.live.mu.Unlock()
		if left {
			l.recorder.Leave(l.work.ctx)
		}
	})
}

// exited handles the end of a process; from here on the thread shows no running agent.
func (l *run) exited(id thread.ExecutionID, e thread.Exit) {
	l.live.mu.Lock()
	if l.live.execution == nil || l.live.execution.ID != id || l.live.exit != nil {
		l.live.mu.Unlock()
		return
	}
	if l.live.ending == asked && e.Reason == "" {
		e.Reason = "stopped"
	}
	e.Screen = thread.Excerpt(e.Screen)
	l.live.exit, l.live.session = &e, nil
	l.live.ending.came(l.live.requests.InFlight() ||
		l.live.reported.State == thread.StateWorking || l.live.reported.State == thread.StateSilent)
	l.live.t.Interrupted, l.live.t.Exit = l.attempt == nil && l.live.ending.lost(e, l.work.closes()), e
	l.live.show()
	l.live.mu.Unlock()
	l.live.hooks.shows(thread.StateReport{})
	if e.Limit {
		l.notices.post(l.live.id, thread.LevelWarn, "%s: %s", l.live.thread().DisplayName(), e.Reason)
	}
	l.live.enqueue(func() { l.ended(l.work.ctx, id) })
}

// ended is the step that records the end of a process, once.
func (l *run) ended(ctx context.Context, id thread.ExecutionID) {
	l.live.mu.Lock()
	if l.live.execution == nil || l.live.execution.ID != id || l.live.exit == nil {
		l.live.mu.Unlock()
		return
	}
	exit, asked, direct, cost := *l.live.exit, l.live.ending == asked, l.live.visibility.direct(), l.live.sideCost
	a := l.attempt // what became of it says its execution
	interrupted := a == nil && l.live.ending.lost(exit, l.work.closes())
	asking := a != nil && (l.live.requests.InFlight() || l.open.asking(a.id))
	l.live.mu.Unlock()
	if asking && !l.work.closes() && a.waits() {
		l.live.later(lastRequest, func() { l.ended(l.work.ctx, id) })
		return
	}
	if direct {
		l.findSession()
		l.recorder.Poll(ctx) // read its last output
	}
	l.recorder.Flush(ctx)
	if l.cfg.MCP != nil {
		l.cfg.MCP.Ended(l.live.id)
	}
	if l.cfg.gateway != nil {
		l.cfg.gateway.Rest(l.live.id)
	}
	if a != nil {
		filesAfter(ctx, l, a)
		closePrompt(ctx, l, a, exit, asked)
	}
	l.interruptPrompts(ctx, "the agent exited: "+activity.Exit(exit), !asked && !exit.Killed() && !exit.Limit)
	interrupted = interrupted || a == nil && !asked && exit.Code != 0 && l.recorder.Amid()
	err := l.live.update(ctx, func(t *thread.Thread) error {
		t.Interrupted, t.Exit = interrupted, exit
		t.Gauge.CostUSD += cost
		return nil
	})
	if err == nil {
		l.live.mu.Lock()
		l.live.sideCost -= cost
		l.live.mu.Unlock()
	} else if !errors.Is(err, thread.ErrNotFound) {
		l.notices.post(l.live.id, thread.LevelWarn, "cannot record that the agent exited: %v", err)
	}
	// If this fails the run stays open, and the next start marks the thread as interrupted.
	if err := l.cfg.Store.EndExecution(ctx, id, l.cfg.now(), exit); err != nil {
		l.cfg.Log.Error("end a run", "thread", string(l.live.id), "err", err)
	}
	recordEnd(ctx, l, id, exit, asked)
	if a != nil {
		a.changed = leavePlace(ctx, l, a)
	}
	l.live.mu.Lock()
	l.live.execution, l.live.ending, l.attempt = nil, unasked, nil
	l.live.show()
	l.live.mu.Unlock()
	l.typist.serve(nil)
	if a != nil {
		endAttempt(ctx, l, a, exit, asked)
	}
	if l.live.thread().Once.On {
		settleLeft(ctx, l)
	}
	l.open.look()
	if interrupted && !l.work.closes() { // the next start proves it
		l.prove(ctx)
	}
}

// endNow is the step that records at once the end of a process that has ended, if it is not recorded yet.
func endNow(ctx context.Context, l *run) {
	l.live.mu.Lock()
	x, over, a := l.live.execution, l.live.exit != nil, l.attempt
	l.live.mu.Unlock()
	if x == nil || !over {
		return
	}
	if a != nil {
		a.hurry()
	}
	l.ended(ctx, x.ID)
}

// lastRequest is how long the end of a run waits for its last request, which ends with it, before it looks again.
const lastRequest = 100 * time.Millisecond

// troubleText describes for people what is wrong.
func troubleText(r thread.StateReport) string {
	what := map[thread.State]string{
		thread.StateUnauthorised: "the provider rejects the credentials", thread.StateLimited: "rate limited by the provider",
		thread.StateUnavailable: "the provider is failing", thread.StateUnreachable: "the provider cannot be reached",
		thread.StateCut: "the provider cut off its answer", thread.StateFailed: "the agent cannot continue",
	}[r.State]
	if strings.HasPrefix(r.Why(), thread.NotSent) { // by the gateway, and not by the provider
		return r.Why()
	}
	if !r.Until.IsZero() {
		what += " until " + r.Until.Local().Format(time.TimeOnly)
	}
	if why := r.Why(); why != "" {
		what += ": " + why
	}
	return what
}
