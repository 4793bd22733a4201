package manager

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
	"orchestrator/thread/turns"
	exec "orchestrator/thread/work"
)

// cancelGrace is how long a process without a terminal has to end when it is cancelled.
const cancelGrace = 700 * time.Millisecond

// promptGiven is called after a prompt was given to the agent, or could not be.
func promptGiven(l *run, id thread.PromptID, err error) {
	a := attemptOf(l)
	switch {
	case a == nil || a.prompt != id:
	case err == nil || errors.Is(err, thread.ErrNoReaction):
	case errors.Is(err, errClosed), errors.Is(err, thread.ErrNotRunning): // its end tells
	case !errors.Is(err, thread.ErrTyped) && (errors.Is(err, thread.ErrApproval) || errors.Is(err, thread.ErrBusy)): // tried again
	default:
		l.live.enqueue(func() {
			if _, err := giveUp(l.work.ctx, l, a, exec.CausePrompt, "its prompt was not taken: "+reason(err)); err != nil && !errors.Is(err, errOver) {
				l.cfg.Log.Error("end a run whose prompt was not taken", "execution", a.name, "err", err)
			}
		})
	}
}

// promptTells returns what the agent is told after a prompt of an execution: its caps. A program that may run what it is
// given gets nothing of ours, and what is a command of the agent's own stays one.
func promptTells(l *run, p thread.Prompt) string {
	a := attemptOf(l)
	if a == nil || a.prompt != p.ID || l.cfg.runsLines(l.live.thread().Agent) || turns.Command(p.Text) {
		return ""
	}
	return exec.Told(a.execution())
}

// promptGives is called before a prompt is given to the agent, with all that it gets: its execution runs from here on, and
// what it was given is kept. If it was taken away meanwhile, the agent does not get it.
func promptGives(l *run, id thread.PromptID, text string) error {
	a := attemptOf(l)
	if a == nil || a.prompt != id {
		l.typist.outbox.mu.Lock()
		defer l.typist.outbox.mu.Unlock()
		if l.typist.outbox.Bound(id) { // its process has just ended
			return thread.ErrNotRunning
		}
		return nil
	}
	err := a.become(l.work.ctx, exec.Running, "")
	switch {
	case errors.Is(err, exec.ErrFence):
		go kill(l.work.ctx, l, a)
		return fmt.Errorf("%s was taken away: %w", a.name, thread.ErrNotRunning)
	case err != nil: // tried again
		return fmt.Errorf("the store rejects it: %w: %w", err, thread.ErrBusy)
	}
	a.handed(l.work.ctx, text)
	if a.waiting() != nil { // it asked before it had a prompt
		l.live.enqueue(a.stand)
	}
	return nil
}

// abort ends an execution at once: first its row, then its process, of which nothing is left a moment later. It does not
// wait for the thread's queue, nor for a store that refuses the row: that is stored with the end of the process.
func abort(ctx context.Context, l *run, a *attempt, state exec.State, reason string) (exec.Execution, error) {
	return abortAs(ctx, l, a, verdict{state: state, reason: reason})
}

// giveUp is abort for an execution that has failed, for a cause that is not its process's own end.
func giveUp(ctx context.Context, l *run, a *attempt, cause exec.Cause, reason string) (exec.Execution, error) {
	return abortAs(ctx, l, a, verdict{state: exec.Failed, cause: cause, reason: reason})
}

func abortAs(ctx context.Context, l *run, a *attempt, v verdict) (exec.Execution, error) {
	x, err := a.decide(ctx, v)
	if !errors.Is(err, errOver) {
		a.unwanted()
		kill(ctx, l, a)
		if err != nil {
			err = fmt.Errorf("the process is ended, but that is not stored yet: %w", err)
		}
	}
	return x, err
}

// cancelRun cancels an execution of a thread, whether it waits or runs; errOver if it has ended.
func cancelRun(ctx context.Context, l *run, x exec.Execution, why string) (exec.Execution, error) {
	id := x.ID
	if a := attemptOf(l); a != nil && a.id == id {
		return abort(ctx, l, a, exec.Cancelled, why)
	}
	x, err := l.open.supersede(ctx, id, func(x *exec.Execution) error {
		if x.State.Final() && x.State != exec.Lost {
			return errOver
		}
		return ends(exec.Cancelled, why, l.cfg.now())(x)
	})
	if err != nil {
		return x, err
	}
	l.live.enqueue(func() { settlePrompt(l.work.ctx, l, x.Prompt, exec.Cancelled, why) })
	if a := attemptOf(l); a != nil && a.id == id { // it was started meanwhile
		a.took(x)
		a.unwanted()
		kill(ctx, l, a)
	}
	return x, nil
}

// kill ends the process of an execution, if it has one. The end of the process is recorded by itself.
func kill(ctx context.Context, l *run, a *attempt) {
	l.live.mu.Lock()
	s := l.live.session
	if l.attempt != a {
		s = nil
	}
	if s != nil {
		l.live.ending = asked
	}
	l.live.mu.Unlock()
	if s == nil {
		return
	}
	ctx = context.WithoutCancel(ctx) // who asks may leave, the process must go
	var err error
	if c, can := s.(thread.Canceller); can {
		err = c.Cancel(ctx)
	}
	if err != nil || !isDone(s) {
		err = s.Stop(ctx, cancelGrace)
	}
	if err != nil {
		l.cfg.Log.Error("end the process of a run", "execution", a.name, "err", err)
	}
}

// isDone reports whether a session has ended, as far as it tells.
func isDone(s thread.Session) bool {
	d, tells := s.(interface{ Done() <-chan struct{} })
	if !tells {
		return false
	}
	select {
	case <-d.Done():
		return true
	default:
		return false
	}
}

// cancelAll is the step that cancels what waits of a thread's executions: nothing of it runs.
func cancelAll(ctx context.Context, l *run, why string) error {
	var errs []error
	for _, x := range l.open.list() {
		if x.Thread != l.live.id {
			continue
		}
		_, err := l.open.supersede(ctx, x.ID, func(x *exec.Execution) error {
			if x.State.Final() {
				return errOver
			}
			return ends(exec.Cancelled, why, l.cfg.now())(x)
		})
		if err == nil {
			settlePrompt(ctx, l, x.Prompt, exec.Cancelled, why)
		} else if !errors.Is(err, errOver) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// keepTime ends an execution when its deadline is over. A machine that sleeps does not use up its time, nor does a person
// who is asked.
func keepTime(l *run, a *attempt, limit time.Duration) {
	if limit <= 0 || !l.work.begin() {
		return
	}
	a.time.start(limit)
	go func() {
		defer l.work.done()
		for left, used := a.time.rest(); !used || left > 0; left, used = a.time.rest() {
			var over <-chan time.Time
			if used {
				over = time.After(left)
			}
			select {
			case <-over:
			case <-a.time.changed:
			case <-a.done:
				return
			case <-l.work.closing.Done():
				return
			}
		}
		_, err := giveUp(l.work.ctx, l, a, exec.CauseDeadline, fmt.Sprintf("its time of %s was over; give it more with --deadline or runs.deadline", span(limit)))
		if err != nil && !errors.Is(err, errOver) {
			l.cfg.Log.Error("end a run whose time is over", "execution", a.name, "err", err)
		}
	}()
}

// span is a duration for people: "10m", not "10m0s".
func span(d time.Duration) string {
	if d >= time.Minute && d%time.Minute == 0 {
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return d.String()
}

// settlePrompt ends a prompt with its execution, unless it has ended or a turn is about to end it.
func settlePrompt(ctx context.Context, l *run, id thread.PromptID, state exec.State, why string) {
	d := &l.typist.outbox
	d.mu.Lock()
	defer d.mu.Unlock()
	why = line(why)
	p, known := d.Prompt(id)
	if !known || p.State.Over() || l.recorder.Answers(id) {
		return
	}
	switch {
	case p.State == thread.PromptQueued && state == exec.Cancelled:
		p = l.typist.after(p, outbox.Cancelled, why)
	case p.State == thread.PromptQueued:
		p = l.typist.after(l.typist.after(p, outbox.TypingBegan, ""), outbox.Refused, why)
	case state == exec.Completed:
		p = l.typist.after(p, outbox.Taken, "its answer is in the log of the run")
	default:
		p = l.typist.after(p, outbox.Stopped, why)
	}
	l.typist.put(ctx, p) //nolint:errcheck // logged; the outbox has it
}
