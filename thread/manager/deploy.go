package manager

import (
	"context"
	"errors"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	exec "orchestrator/thread/work"
)

// holds returns why no execution of a thread may start now, for people; "" if one may.
func holds(l *run) string {
	setup, merging := l.setupRunning(), l.merging.busy(l.live.id)
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	switch {
	case l.live.execution != nil && l.attempt == nil:
		return "it is open in a terminal"
	case l.live.execution != nil:
		return fmt.Sprintf("waits for %s of the same thread", l.attempt.name)
	case merging != "":
		return "waits for " + merging
	case setup:
		return "its worktree is being set up"
	case !l.live.t.Deleted.IsZero():
		return "its thread is deleted"
	case !l.live.t.Archived.IsZero():
		return "its thread is archived"
	}
	return ""
}

// deploy is the step that starts the process of a queued execution. What speaks against it leaves it queued. usedUp returns
// why its budgets do not let it start, "" if they do.
func deploy(ctx context.Context, l *run, x exec.Execution, usedUp func(exec.Execution) string) {
	if holds(l) != "" || l.work.closes() {
		return // it is decided again
	}
	release, err := l.starts.take()
	if err != nil {
		l.open.waits([]exec.Waiting{{ID: x.ID, Reason: reason(err)}})
		l.live.later(retryAfter, l.open.look)
		return
	}
	defer release()
	l.typist.outbox.mu.Lock()
	p, known := l.typist.outbox.Prompt(x.Prompt)
	l.typist.outbox.mu.Unlock()
	if !known || p.State != thread.PromptQueued {
		if _, err := l.open.supersede(ctx, x.ID, ends(exec.Cancelled, "its prompt was withdrawn", l.cfg.now())); err != nil {
			lookLater(l, x, err)
		}
		return
	}
	if other, err := otherAccount(ctx, l, x); err != nil && !errors.Is(err, exec.ErrFence) {
		lookLater(l, x, err)
		return
	} else if other {
		l.live.enqueue(l.open.look) // once its place is released
		return
	}
	if x, err = l.open.claim(ctx, x.ID); err != nil {
		if !errors.Is(err, exec.ErrFence) { // another server has it
			lookLater(l, x, err)
		}
		return
	}
	failpoint.Hit("thread.exec.claimed")
	t := l.live.thread()
	// Nothing was answered yet: a session that has the prompt and no answer is of no use.
	fresh := x.Attempt > 1 && (x.Lost == exec.PolicyRetry || x.Retries+x.Redone > 0) && t.Head == "" && t.ForkPoint == ""
	a := newAttempt(ctx, l.open, l.live, x, fresh && !x.Reporting)
	a.bound.stop = func() { stopAtBound(l, a) }
	l.live.mu.Lock()
	l.attempt = a
	l.live.mu.Unlock()
	if now, known := l.open.of(x.ID); !known || now.Fence != x.Fence { // it was taken away before there was an attempt
		a.unwanted()
	}
	if why := usedUp(x); why != "" { // since it was chosen; from now on it is ended by whatever uses up the rest
		notDeployed(ctx, l, a, thread.Kindf(errNoBudget, "%s", why))
		return
	}
	if s, can := l.cfg.MCP.(thread.ServerStarter); can { // its agent asks for their tools once, and may not be told of later ones
		s.Started(a.starting, l.live.id)
	}
	if err := l.begin(a.starting, launchRequest{attempt: a}); err != nil {
		notDeployed(ctx, l, a, err)
		return
	}
	if a.execution().State.Final() { // it was cancelled meanwhile
		kill(ctx, l, a)
		return
	}
	keepTime(l, a, x.Deadline)
}

// lookLater has the queue look again after a while: the store did not take something.
func lookLater(l *run, x exec.Execution, err error) {
	l.cfg.Log.Warn("start a run", "execution", x.Name, "err", err)
	l.live.later(retryAfter, l.open.look)
}

// errNoBudget is returned where a budget does not let an execution start.
var errNoBudget = errors.New("its budget is used up")

// notDeployed is the end of an execution whose process could not be started. If only the store or the server is in the
// way, or a budget, it is queued again.
func notDeployed(ctx context.Context, l *run, a *attempt, cause error) {
	l.typist.serve(nil)
	leavePlace(ctx, l, a)
	l.live.mu.Lock()
	l.attempt = nil
	l.live.mu.Unlock()
	close(a.done)
	a.unwanted()
	a.staged(ctx) // ended, if a process has come and gone
	x, err := l.open.reread(ctx, a.id)
	if err != nil {
		x = a.execution()
	}
	if x.State.Final() {
		settlePrompt(ctx, l, x.Prompt, x.State, x.Reason)
		return
	}
	why := "not started: " + reason(cause)
	end := func(x *exec.Execution) {
		x.State, x.Reason = exec.Failed, why
		x.Failure = exec.Classify(exec.Ending{Cause: exec.CauseStart, Reason: why, Err: cause}, l.cfg.now())
	}
	if x.Reporting {
		end = func(x *exec.Execution) { unreported(l, *x, why).apply(x, l.cfg.now()) }
	}
	state := exec.Failed
	if errors.Is(cause, thread.ErrUnreachable) || thread.IsDiskFull(cause) || errors.Is(cause, errClosed) ||
		errors.Is(cause, errNoBudget) || l.work.closes() {
		state = exec.Queued
		end = func(x *exec.Execution) { x.State, x.Reason = exec.Queued, why }
	}
	_, err = l.open.change(ctx, x.ID, x.Fence, always(end))
	switch {
	case err != nil:
		l.cfg.Log.Error("store that a run was not started", "execution", x.Name, "err", err)
		l.live.later(retryAfter, func() { undeploy(l, x, end) })
	case state == exec.Failed:
		settlePrompt(ctx, l, x.Prompt, state, why)
		l.live.markUnseen(ctx)
	default:
		l.live.later(retryAfter, l.open.look)
	}
}

// always is a change that is never refused.
func always(change func(*exec.Execution)) func(*exec.Execution) error {
	return func(x *exec.Execution) error { change(x); return nil }
}

// undeploy stores again that an execution's process was not started.
func undeploy(l *run, x exec.Execution, end func(*exec.Execution)) {
	y, err := l.open.change(l.work.ctx, x.ID, x.Fence, always(end))
	switch {
	case err == nil && y.State == exec.Failed:
		settlePrompt(l.work.ctx, l, y.Prompt, y.State, y.Reason)
	case errors.Is(err, exec.ErrFence):
		if x, err := l.open.reread(l.work.ctx, x.ID); err == nil && x.State.Final() {
			settlePrompt(l.work.ctx, l, x.Prompt, x.State, x.Reason)
		}
	case err != nil:
		l.live.later(retryAfter, func() { undeploy(l, x, end) })
	}
}

// errNoExecution names an execution that there is not.
func errNoExecution(ref string) error {
	return fmt.Errorf("execution %s: %w", thread.Excerpt(ref), thread.ErrNotFound)
}
