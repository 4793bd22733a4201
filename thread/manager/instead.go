package manager

import (
	"context"
	"errors"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plaintext"
	exec "orchestrator/thread/work"
)

// instead begins the execution of another agent that takes the place of a failed one, and ends that. The order of writes:
// the failed one is queued with the id of the other, which is a row that a restart finds; the fork of its thread; the
// other's row, with that id, so that it is never added twice; the end of the failed one. A crash after the fork leaves a
// thread that has nothing to do.
func (m *Executions) instead(x exec.Execution) {
	ctx := m.work.ctx
	y, err := m.cfg.Runs.Store.Execution(ctx, string(x.Instead))
	if errors.Is(err, thread.ErrNotFound) {
		y, err = m.takePlace(ctx, x)
	} else if err == nil {
		y, err = m.placed(ctx, x, y)
	}
	if err != nil && passing(err) {
		m.cfg.Log.Warn("begin the fallback of a run", "execution", x.Name, "err", err)
		m.lookLater()
		return
	}
	failpoint.Hit("thread.exec.instead")
	why := fmt.Sprintf("%s; %s goes on with %s", x.Failure.What, y.Name, x.Fallback)
	if err != nil {
		why = fmt.Sprintf("%s, and its fallback %s cannot take its place: %s", x.Failure.What, x.Fallback, reason(err))
	}
	_, end := m.open.supersede(ctx, x.ID, func(x *exec.Execution) error {
		if x.State.Final() {
			return errOver
		}
		if err != nil {
			x.Instead, x.Fallback = "", exec.NoFallback // it is not offered again
		}
		failure := x.Failure
		err := ends(exec.Failed, why, m.cfg.now())(x)
		x.Failure = failure
		return err
	})
	switch {
	case errors.Is(end, errOver) && err == nil: // it was cancelled meanwhile
		_, end = m.Cancel(ctx, y.ID, "the run whose place it takes was cancelled")
	case end == nil:
		m.notices.post(x.Thread, thread.LevelWarn, "%s failed: %s", x.Name, why)
		if l := m.registry.run(x.Thread); l != nil && err != nil {
			l.live.enqueue(func() { l.live.markUnseen(ctx) })
		}
	}
	if end != nil && !errors.Is(end, errOver) {
		m.cfg.Log.Warn("end a run whose fallback goes on", "execution", x.Name, "err", end)
		m.lookLater()
	}
}

// lookLater has the dispatcher look again after a while.
func (m *Executions) lookLater() {
	if l := m.registry.all(); len(l) > 0 {
		l[0].live.later(retryAfter, m.open.look)
	}
}

// takePlace forks the thread of a failed execution to its fallback, in the same folder, with what the failed one had left of
// its budget. What takes a place has no fallback itself: nothing goes back and forth.
func (m *Executions) takePlace(ctx context.Context, x exec.Execution) (exec.Execution, error) {
	l := m.registry.run(x.Thread)
	if l == nil {
		return exec.Execution{}, fmt.Errorf("its thread: %w", thread.ErrNotFound)
	}
	p, err := firstPrompt(ctx, m.cfg, x.Prompt)
	if err != nil {
		return exec.Execution{}, fmt.Errorf("its prompt: %w", err)
	}
	t := l.live.thread()
	once := t.Once
	once.Fallback, once.OnFail, once.From = exec.NoFallback, string(x.OnFail), ""
	if x.OnFail == exec.FailFallback {
		once.OnFail = string(exec.FailWait)
	}
	once.Priority, once.ReadOnly, once.Deadline, once.Lost, once.Dispose = x.Priority, x.ReadOnly, x.Deadline, string(x.Lost), ""
	if _, err := m.cfg.Runs.Models.Choose(x.Fallback, "", once.Tier); err != nil {
		once.Tier = "" // the other agent has no model of it
	}
	once.Budget = exec.Rest(x.Budget, x.Usage) // its row has the caps, and who pays
	s, err := m.forks.Fork(ctx, thread.ForkRequest{
		Thread: string(t.ID), At: string(t.Head), Agent: x.Fallback, Label: plaintext.Cut("fallback of "+t.DisplayName(), 200), Prompt: p.Text, Lines: p.Lines,
		NoWorktree: true, Started: true, Once: once, By: x.By, ID: string(x.Instead), Takes: string(x.ID),
	})
	if err != nil {
		return exec.Execution{}, err
	}
	return m.cfg.Runs.Store.Execution(ctx, s.Run.Execution)
}

// placed returns the execution that takes the place of a failed one, of which a row was found. If its prompt was not stored
// it never runs: it is cancelled, its thread is taken back, and another one begins, whose id is stored first.
func (m *Executions) placed(ctx context.Context, x, y exec.Execution) (exec.Execution, error) {
	begun, err := m.begun(ctx, y)
	if err != nil || begun {
		return y, err
	}
	if !y.State.Final() {
		if y, err = m.open.supersede(ctx, y.ID, promptless(m.cfg.now())); err != nil {
			return y, err
		}
	}
	if l := m.registry.run(y.Thread); l != nil {
		if err := m.forks.creation.takeBackNew(l, nil); err != nil {
			m.cfg.Log.Warn("take back the thread of a fallback", "execution", y.Name, "err", err)
		}
	}
	x, err = m.open.change(ctx, x.ID, x.Fence, func(x *exec.Execution) error {
		if x.State.Final() {
			return errOver
		}
		x.Instead = thread.NewID[exec.ID]()
		return nil
	})
	if err != nil {
		return y, err
	}
	return m.takePlace(ctx, x)
}

// begun reports whether an execution was accepted with its prompt.
func (m *Executions) begun(ctx context.Context, y exec.Execution) (bool, error) {
	if y.Prompt == "" {
		return false, nil
	}
	_, err := m.cfg.Store.Prompt(ctx, y.Prompt)
	switch {
	case errors.Is(err, thread.ErrNotFound):
		return y.Attempt > 0, nil // then it was removed with its thread
	case err != nil:
		return false, err
	case y.State.Final():
		return true, nil
	}
	if _, known := m.open.of(y.ID); known {
		return true, nil
	}
	y, err = m.cfg.Runs.Store.Execution(ctx, string(y.ID)) // it may have ended meanwhile
	return y.State.Final(), err
}

// Retry has a failed execution try again, or one that waits for its next attempt at once, as a person decides: in its agent's session, with what failed, if that has got
// somewhere; else from its beginning.
func (m *Executions) Retry(ctx context.Context, id exec.ID) (exec.Execution, error) {
	return m.decided(ctx, id, "retry", verdict{state: exec.Queued, reason: "a person has it tried again"})
}

// FallBack has the fallback of an execution that has failed, or waits for its next attempt, take its place, as a person
// decides.
func (m *Executions) FallBack(ctx context.Context, id exec.ID) (exec.Execution, error) {
	return m.decided(ctx, id, "fall back from", verdict{state: exec.Queued, reason: "a person has its fallback go on", again: exec.AgainFallback})
}

// decided has a person's decision on a failed execution take effect.
func (m *Executions) decided(ctx context.Context, id exec.ID, what string, v verdict) (exec.Execution, error) {
	if m.cfg.Runs.Store == nil {
		return exec.Execution{}, errNoExecution(string(id))
	}
	x, err := m.cfg.Runs.Store.Execution(ctx, string(id))
	if err != nil {
		return x, err
	}
	l := m.registry.run(x.Thread)
	const ask = "ask its thread again with `orchestrator exec send`"
	waits := x.State == exec.Queued && !x.After.IsZero() // for its next attempt
	switch {
	case x.State != exec.Failed && !waits:
		return x, thread.Hint(thread.Kindf(thread.ErrRefused, "%s %s: it is %s, not failed", what, x.Name, x.State), ask)
	case x.Instead != "":
		return x, thread.Kindf(thread.ErrRefused, "%s %s: its fallback has taken its place already", what, x.Name)
	case v.again == exec.AgainFallback && !x.Offers():
		return x, thread.Hint(thread.Kindf(thread.ErrRefused, "%s %s: it has no fallback", what, x.Name),
			"set one with --fallback, or in [runs.fallback] of your configuration")
	case l == nil:
		return x, fmt.Errorf("%s %s: its thread: %w", what, x.Name, thread.ErrNotFound)
	}
	err = l.live.do(ctx, func(ctx context.Context) error {
		if err := accepts(l, l.live.thread()); err != nil {
			return err
		}
		newest, err := l.cfg.Runs.Store.Executions(ctx, exec.Query{Thread: x.Thread, Limit: 1})
		if err == nil && !waits && len(newest) > 0 && newest[0].ID != x.ID {
			err = thread.Hint(thread.Kindf(thread.ErrRefused, "its thread has gone on with %s", newest[0].Name), ask)
		}
		if err != nil {
			return err
		}
		return unfail(ctx, l, x, v)
	})
	if err != nil {
		return x, fmt.Errorf("%s %s: %w", what, x.Name, err)
	}
	return m.cfg.Runs.Store.Execution(ctx, string(id))
}

// unfail queues an execution again that has failed, or no longer has it wait.
func unfail(ctx context.Context, l *run, x exec.Execution, v verdict) error {
	v.failure = x.Failure
	if _, model := exec.FallbackModel(x.Fallback); v.again != exec.AgainFallback || model {
		text := goOnAfter
		switch {
		case x.Exhausted():
			text = exec.AskMore(x.Gap)
		case x.Failure.Class == exec.ClassAgent:
			text = redo(x.Failure.What)
		}
		resumes, err := resumable(ctx, l)
		if err != nil {
			return err
		}
		if !x.Worked() || !resumes {
			if text, err = repeat(ctx, l, x, x.Failure.Class == exec.ClassAgent, x.Failure.What); err != nil {
				return err
			}
		}
		prompt, err := promptAgain(ctx, l, x, text)
		if err != nil {
			return err
		}
		v.prompt = prompt
	}
	_, err := l.open.change(ctx, x.ID, x.Fence, func(x *exec.Execution) error {
		x.Retries, x.Redone = 0, 0
		v.apply(x, l.cfg.now())
		if x.Exhausted() {
			x.MoreCalls(exec.Capped(l.live.thread().Once, l.cfg.Runs.Caps).Calls)
		}
		return nil
	})
	switch {
	case err != nil:
		if y, rerr := l.open.reread(ctx, x.ID); rerr == nil {
			unused(ctx, l, y, v.prompt)
		}
	case v.prompt == "" && x.State == exec.Queued: // that of the attempt which it waited for
		settlePrompt(ctx, l, x.Prompt, exec.Cancelled, "its fallback goes on")
	}
	return err
}
