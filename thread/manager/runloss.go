package manager

import (
	"context"
	"errors"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/manager/runs"
	exec "orchestrator/thread/work"
)

// goOn is the prompt for an agent that goes on with what it was in the middle of.
const goOn = "Your process was ended before you had finished. Look at what is already done, then finish it."

// afterLoss is the step that does what follows on the loss of an execution: a person is asked, or it is queued again.
func afterLoss(l *run, ctx context.Context, x exec.Execution) {
	next := exec.AfterLoss(x, resumable(l, ctx))
	if err := sequel(l, ctx, x, next); err != nil {
		l.notices.post(l.live.id, thread.LevelWarn, "%s: %s is lost, and what follows on that was not done: %v",
			l.live.thread().DisplayName(), x.Name, err)
	}
}

// resumable reports whether the agent's own session can be resumed.
func resumable(l *run, ctx context.Context) bool {
	t := l.live.thread()
	if t.Session == "" {
		return false
	}
	agent, err := l.cfg.Agents.Agent(t.Agent)
	return err == nil && l.assess(ctx, agent).How == thread.ResumeNative
}

// sequel does what was decided about a lost execution.
func sequel(l *run, ctx context.Context, x exec.Execution, next exec.Sequel) error {
	if next.State != exec.Queued {
		y, err := l.open.change(ctx, x.ID, x.Fence, func(x *exec.Execution) error {
			x.State, x.Reason = next.State, next.Reason
			return nil
		})
		if err == nil {
			l.live.markUnseen(ctx)
			settlePrompt(l, ctx, y.Prompt, y.State, y.Reason)
		}
		return err
	}
	p, err := promptAgain(l, ctx, x, next.Resume)
	if err != nil {
		return err
	}
	y, err := l.cfg.Runs.Store.Change(ctx, x.ID, x.Fence, func(x *exec.Execution) error {
		x.State, x.Reason, x.Prompt = exec.Queued, next.Reason, p.ID
		return nil
	})
	if err != nil {
		return err
	}
	failpoint.Hit("thread.exec.requeued")
	l.typist.bind(p.ID)
	if p.State == "" {
		if _, err := l.typist.accept(ctx, p); err != nil {
			return err // the next start finds it without its prompt
		}
	}
	l.open.put(y)
	return nil
}

// promptAgain returns the prompt of the next attempt: the same if the agent never got it, or a new one that is not stored
// yet.
func promptAgain(l *run, ctx context.Context, x exec.Execution, resume bool) (thread.Prompt, error) {
	p, err := l.cfg.Store.Prompt(ctx, x.Prompt)
	if err != nil {
		return thread.Prompt{}, err
	}
	p = l.typist.upToDate(p)
	if p.State == thread.PromptQueued {
		return p, nil
	}
	if p.Cut {
		return thread.Prompt{}, errors.New("its prompt is no longer whole")
	}
	next := thread.Prompt{ID: thread.NewPromptID(), From: thread.FromVerb, Text: p.Text, Lines: p.Lines, Again: p.ID}
	if resume {
		next.Text, next.Lines = goOn, false
	}
	return next, nil
}

// recoverRun is the step at the start of a server that finds out what became of an open execution of an earlier one. Its
// process is gone, and what became of its prompt is known.
func recoverRun(l *run, ctx context.Context, x exec.Execution) {
	if err := recovered(l, ctx, x); err != nil && !errors.Is(err, exec.ErrFence) {
		l.notices.post(l.live.id, thread.LevelError, "%s: what became of %s is not stored: %v",
			l.live.thread().DisplayName(), x.Name, err)
	}
}

func recovered(l *run, ctx context.Context, x exec.Execution) error {
	p, err := l.cfg.Store.Prompt(ctx, x.Prompt)
	if errors.Is(err, thread.ErrNotFound) {
		_, err := l.open.supersede(ctx, x.ID, ends(exec.Failed, "its prompt was never stored: the server ended; ask again", l.cfg.now()))
		return err
	}
	if err != nil {
		return err
	}
	p = l.typist.upToDate(p)
	if x.State == exec.Queued {
		if p.State != thread.PromptQueued {
			_, err := l.open.supersede(ctx, x.ID, ends(exec.Cancelled, "its prompt was withdrawn", l.cfg.now()))
			return err
		}
		l.typist.bind(p.ID)
		l.open.put(x)
		return nil
	}
	used := l.live.used()
	answered := p.State == thread.PromptAnswered
	if answered && x.State == exec.Deployed { // it was quicker than its row
		x, err = l.open.supersede(ctx, x.ID, func(x *exec.Execution) error { x.State = exec.Running; return nil })
		if err != nil {
			return err
		}
	}
	lost, err := l.open.supersede(ctx, x.ID, func(x *exec.Execution) error {
		x.State, x.Ended, x.Reason = exec.Lost, l.cfg.now(), "its server ended while it worked"
		if x.Process != "" { // else the prompt was not given
			x.Usage, x.Before = x.Usage.Add(runs.Used(x.Before, used, thread.Usage{})), used
		}
		if answered {
			x.State, x.Reason = exec.Completed, "" // only this was not stored any more
		}
		return nil
	})
	if err != nil || lost.State != exec.Lost {
		return err
	}
	failpoint.Hit("thread.exec.lost")
	afterLoss(l, ctx, lost)
	return nil
}
