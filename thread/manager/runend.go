package manager

import (
	"context"
	"errors"

	"orchestrator/thread"
	"orchestrator/thread/manager/runs"
	exec "orchestrator/thread/work"
)

// closePrompt ends the prompt of an execution whose process has ended, unless a turn answers it.
func closePrompt(l *run, ctx context.Context, a *attempt, exit thread.Exit, asked bool) {
	x := a.execution()
	state, why := x.State, x.Reason
	if !state.Final() {
		if asked && l.work.closes() {
			return // the next start decides
		}
		a.mu.Lock()
		said := a.record.End()
		a.mu.Unlock()
		state, why = runs.Ended{Said: said, Exit: exit, Asked: asked}.Outcome()
	}
	settlePrompt(l, ctx, a.prompt, state, why)
}

// endAttempt is the step that stores how an execution ended, after its process and its turn. While the store refuses it,
// it is tried again.
func endAttempt(l *run, ctx context.Context, a *attempt, exit thread.Exit, asked bool) {
	if asked && l.work.closes() && !a.execution().State.Final() {
		a.flush() // the row stays open: the next start finds it lost
		close(a.done)
		return
	}
	used := l.live.used()
	x, err := a.ended(ctx, runs.Ended{Exit: exit, Asked: asked}, used)
	if errors.Is(err, exec.ErrFence) {
		if stored, rerr := l.cfg.Runs.Store.Execution(ctx, string(a.id)); rerr == nil {
			a.took(stored)
			x, err = a.ended(ctx, runs.Ended{Exit: exit, Asked: asked}, used)
		}
	}
	if err != nil {
		l.cfg.Log.Error("store the end of a run", "execution", a.name, "err", err)
		l.live.later(retryAfter, func() { endAttempt(l, l.work.ctx, a, exit, asked) })
		return
	}
	close(a.done)
	a.unwanted()
	if x.State == exec.Completed || x.State == exec.Failed || x.State == exec.Lost {
		l.live.markUnseen(ctx)
	}
	if x.State == exec.Lost {
		afterLoss(l, ctx, x)
	}
}
