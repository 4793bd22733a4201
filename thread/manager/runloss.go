package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/manager/runs"
	exec "orchestrator/thread/work"
)

// goOn is the prompt for an agent that goes on with what it was in the middle of.
const goOn = "Your process was ended before you had finished. Look at what is already done, then finish it."

// lost decides what becomes of an execution that is lost. If it is tried again, the prompt for that is stored already: a
// crash before the execution is written leaves a prompt that the next start finds and takes.
func lost(ctx context.Context, l *run, x exec.Execution, why string) (verdict, error) {
	if v, ours, err := lostAtBound(ctx, l, x, why); ours || err != nil {
		return v, err
	}
	resumes, err := resumable(ctx, l)
	if err != nil {
		return verdict{}, err
	}
	next := exec.AfterLoss(x, resumes || waits(l, x.Prompt), why) // what never began can go on anywhere
	v := verdict{state: next.State, reason: next.Reason, events: []exec.Event{{State: exec.Lost, Text: why}}}
	if next.State == exec.Failed {
		v.failure = exec.Classify(exec.Ending{Cause: exec.CauseDied, Reason: next.Reason}, l.cfg.now())
	}
	if next.State != exec.Queued {
		return v, nil
	}
	text := ""
	if next.Resume {
		text = goOn
	}
	prompt, err := promptAgain(ctx, l, x, text)
	if err != nil && !passing(err) {
		return verdict{state: exec.Lost, reason: "it was lost, and cannot be tried again: " + reason(err), events: v.events}, nil
	}
	v.prompt = prompt
	return v, err
}

// goesOn is what follows on a loss because a person wants it to go on.
func goesOn(ctx context.Context, l *run, x exec.Execution) (verdict, error) {
	if x.Exhausted() && !x.Reporting {
		return exhausted(ctx, l, x)
	}
	resumes, err := resumable(ctx, l)
	if err != nil {
		return verdict{}, err
	}
	text := ""
	if resumes {
		text = goOn
	}
	prompt, err := promptAgain(ctx, l, x, text)
	return verdict{state: exec.Queued, reason: "a person resumed it", prompt: prompt}, err
}

// unlose queues a lost execution again.
func unlose(ctx context.Context, l *run, x exec.Execution) error {
	v, err := goesOn(ctx, l, x)
	if err != nil {
		return err
	}
	_, err = l.open.change(ctx, x.ID, x.Fence, func(x *exec.Execution) error {
		v.apply(x, time.Time{})
		return nil
	})
	if err != nil {
		if y, rerr := l.open.reread(ctx, x.ID); rerr == nil {
			unused(ctx, l, y, v.prompt)
		}
	}
	return err
}

// recoverRun is the step at the start of a server that finds out what became of an open execution of an earlier one. Its
// process is gone, and what became of its prompt is known.
func recoverRun(ctx context.Context, l *run, x exec.Execution) {
	err := recovered(ctx, l, x)
	switch {
	case err == nil || errors.Is(err, errOver) || errors.Is(err, exec.ErrFence):
	case passing(err):
		l.live.later(retryAfter, func() { recoverRun(l.work.ctx, l, x) })
	default:
		l.notices.post(l.live.id, thread.LevelError, "%s: what became of %s is not known: %v",
			l.live.thread().DisplayName(), x.Name, err)
		_, err = l.open.supersede(ctx, x.ID, func(x *exec.Execution) error {
			if x.State.Final() {
				return errOver
			}
			why := "what became of it is not known: " + reason(err)
			if x.State == exec.Queued { // it never began
				return fails(exec.CauseDied, why, l.cfg.now())(x)
			}
			return ends(exec.Lost, why, l.cfg.now())(x)
		})
		if err != nil && !errors.Is(err, errOver) {
			l.live.later(retryAfter, func() { recoverRun(l.work.ctx, l, x) })
		}
	}
}

func recovered(ctx context.Context, l *run, x exec.Execution) error {
	p, err := l.cfg.Store.Prompt(ctx, x.Prompt)
	if errors.Is(err, thread.ErrNotFound) {
		_, err := l.open.supersede(ctx, x.ID, fails(exec.CausePrompt, "its prompt was never stored: the server ended; ask again", l.cfg.now()))
		return err
	}
	if err != nil {
		return err
	}
	p = l.typist.upToDate(p)
	if t := l.live.thread(); x.State == exec.Queued && (!t.Archived.IsZero() || !t.Deleted.IsZero()) {
		return cancelAll(ctx, l, "its thread is archived or deleted")
	}
	if x.State == exec.Queued && x.Instead != "" { // its prompt is over; its fallback was about to begin
		l.open.put(x)
		return nil
	}
	if x.State == exec.Queued {
		if p.State != thread.PromptQueued {
			_, err := l.open.supersede(ctx, x.ID, ends(exec.Cancelled, "its prompt was withdrawn", l.cfg.now()))
			return err
		}
		l.typist.bind(p.ID)
		l.open.put(x)
		return nil
	}
	done, answer, err := finished(ctx, l, x)
	if err != nil {
		return err
	}
	v := verdict{state: exec.Completed} // only that was not stored any more
	switch {
	case x.Reporting && !x.ReadOnly && (done || p.State == thread.PromptAnswered):
		v = reported(l, x, answer)
	case done && x.ReadOnly && l.cfg.Runs.Witness != nil:
		if v, err = lost(ctx, l, x, "its server ended before its files were compared: nobody knows whether it changed some"); err != nil {
			return err
		}
		if v.state == exec.Lost {
			v.reason = "its server ended before its files were compared; a person decides what follows"
		}
	case done:
	case p.State == thread.PromptAnswered: // agents go on after an answer, and may fail then
		v = verdict{state: exec.Lost, reason: "its answer is stored, but its server ended before it had finished; a person decides what follows"}
	default:
		why := "its server ended while it worked"
		if x.Question != nil {
			why = fmt.Sprintf("its server ended while it waited for an answer to: %s", x.Question.Line())
		}
		if v, err = lost(ctx, l, x, why); err != nil {
			return err
		}
	}
	if v.state == exec.Completed && x.State == exec.Deployed { // it was quicker than its row
		if x, err = l.open.supersede(ctx, x.ID, func(x *exec.Execution) error { x.State = exec.Running; return nil }); err != nil {
			return err
		}
	}
	used, files := l.live.used(), filesLeft(ctx, l, x)
	y, err := l.open.supersede(ctx, x.ID, func(x *exec.Execution) error {
		if x.State.Final() { // cancelled meanwhile
			return errOver
		}
		files.into(x)
		if x.Process != "" && x.Counted != x.Attempt { // else the prompt was not given
			x.Counted = x.Attempt
			x.Usage = x.Usage.Add(runs.Used(x.Before, used, x.Beside, thread.Usage{}))
			x.Before, x.Beside = used, thread.Usage{}
			if !done { // nobody knows what the answer costs that was cut off
				x.Usage.Unknown++
			}
		}
		x.Answer = cmp.Or(answer, x.Answer)
		v.apply(x, l.cfg.now())
		return nil
	}, v.events...)
	if errors.Is(err, errOver) {
		if y, rerr := l.open.reread(ctx, x.ID); rerr == nil {
			unused(ctx, l, y, v.prompt)
		}
	}
	if err != nil {
		return err
	}
	failpoint.Hit("thread.exec.recovered")
	if y.State.Final() {
		if l.cfg.Runs.Ended != nil {
			l.cfg.Runs.Ended(y)
		}
		settlePrompt(ctx, l, y.Prompt, y.State, y.Reason)
		l.live.markUnseen(ctx)
	}
	return nil
}

// finished reports whether an execution's agent said that it had completed the work, before its server ended, and what
// it had said last.
func finished(ctx context.Context, l *run, x exec.Execution) (done bool, answer string, err error) {
	for after := int64(0); ; {
		list, err := l.cfg.Runs.Store.Events(ctx, x.ID, after, 1000)
		if err != nil || len(list) == 0 {
			return done, answer, err
		}
		done = done || runs.Finished(list, x.Attempt)
		answer = cmp.Or(runs.Answer(list, x.Attempt), answer)
		after = list[len(list)-1].Seq
	}
}
