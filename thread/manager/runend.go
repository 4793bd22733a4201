package manager

import (
	"cmp"
	"context"
	"errors"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// closePrompt ends the prompt of an execution whose process has ended, unless a turn answers it.
func closePrompt(ctx context.Context, l *run, a *attempt, exit thread.Exit, asked bool) {
	x := a.execution()
	state, why := x.State, x.Reason
	if !state.Final() {
		if a.stays(asked, l.work.closes()) {
			return // the next start decides
		}
		state, why = a.outcome(exit, asked)
		if state == exec.Completed && waits(l, a.prompt) {
			why = "its program ended without taking its prompt"
			a.endsAs(state, exec.CauseOwn, why)
		}
		if state != exec.Completed && a.isReached() {
			why = exec.UsedUp(x)
		}
	}
	settlePrompt(ctx, l, a.prompt, state, why)
}

// endAttempt is the step that stores how an execution ended, after its process and its turn. While the store refuses it,
// it is tried again.
func endAttempt(ctx context.Context, l *run, a *attempt, exit thread.Exit, asked bool) {
	stays := a.stays(asked, l.work.closes())
	if stays && a.changed != "" { // what the next start cannot know
		a.endsAs(exec.Failed, exec.CauseChanged, a.changed)
		settlePrompt(ctx, l, a.prompt, exec.Failed, a.changed)
	} else if stays {
		a.flush() // the row stays open: the next start finds it lost
		a.keep(ctx, exit)
		close(a.done)
		return
	}
	x, err := storeEnd(ctx, l, a, exit, asked)
	if errors.Is(err, exec.ErrFence) {
		if stored, rerr := l.open.reread(ctx, a.id); rerr == nil {
			a.took(stored)
			x, err = storeEnd(ctx, l, a, exit, asked)
		}
	}
	if err != nil {
		l.cfg.Log.Error("store the end of a run", "execution", a.name, "err", err)
		l.live.later(retryAfter, func() { endAttempt(l.work.ctx, l, a, exit, asked) })
		return
	}
	close(a.done)
	a.unwanted()
	if x.State.Final() && l.cfg.Runs.Ended != nil {
		l.cfg.Runs.Ended(x)
	}
	if x.State == exec.Completed || x.State == exec.Failed || x.State == exec.Lost {
		l.live.markUnseen(ctx)
	}
	queueUntaken(ctx, l, a, x)
}

// storeEnd stores how an execution ended: as it was decided, as its process said, or what follows on its loss.
func storeEnd(ctx context.Context, l *run, a *attempt, exit thread.Exit, asked bool) (exec.Execution, error) {
	x := a.execution()
	var v verdict
	if !x.State.Final() {
		v.state, v.reason = a.outcome(exit, asked)
		end := a.failing(exit, v.reason)
		if v.unwitnessed(a.changed) {
			end.Cause, end.Reason = exec.CauseChanged, v.reason
		}
		ours, decided, err := bounded(ctx, l, a, x, v.state, v.reason)
		switch {
		case err != nil:
			return x, err
		case decided && end.Cause != exec.CauseChanged:
			v = ours
		case v.state == exec.Lost:
			v, err = a.sequel(func() (verdict, error) { return lost(ctx, l, x, v.reason) })
		case v.state == exec.Failed:
			v, err = a.sequel(func() (verdict, error) { return failed(ctx, l, a, x, end) })
		default:
		}
		if err != nil {
			return x, err
		}
	}
	whole, noted := overlong(ctx, l, a, x, v)
	y, err := a.ended(ctx, exit, l.live.used(), v.state, func(x *exec.Execution) {
		if !x.State.Final() {
			v.apply(x, l.cfg.now())
		}
		x.Whole = cmp.Or(whole, x.Whole)
	}, append(noted, v.events...))
	if next, _ := a.sequel(nil); err == nil && y.State != exec.Queued { // it was cancelled meanwhile
		unused(ctx, l, y, next.prompt)
	}
	if err == nil {
		noteEnd(l, y, v)
	}
	return y, err
}
