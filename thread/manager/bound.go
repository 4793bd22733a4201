package manager

import (
	"context"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	exec "orchestrator/thread/work"
)

// What follows when an execution has made all the calls that it may, and what a crash after each step leaves:
//
//  1. the count in the row                  the execution is lost, and whoever has it go on has it report
//  2. the process ended, its turn cut off   the same; what the agent has said is in its turn
//  3. the prompt that asks for the report   it is found, and used by the next attempt
//  4. the execution, queued and reporting   it reports
//  5. the process without tools             it has failed: it is not asked for a report a second time
//  6. the execution, failed with its gap    nothing is left to do
//
// The count only grows, and is written with the events that it counts.

// stopAtBound ends the process of an execution that has made all its calls. It does not block.
func stopAtBound(l *run, a *attempt) {
	if !l.work.begin() {
		return // the next start finds it lost
	}
	go func() {
		defer l.work.done()
		if err := a.count(l.work.ctx); err != nil {
			l.cfg.Log.Warn("store that a run has made all its calls", "execution", a.name, "err", err)
		}
		failpoint.Hit("thread.exec.bound")
		kill(l.work.ctx, l, a)
	}()
}

// unread is how long what an agent has printed may take to be read.
const unread = 20 * time.Millisecond

// holdAtBound has a request to the model wait that a run makes after its last call, until its process is stopped: nothing
// that the model says to it would be done.
func holdAtBound(ctx context.Context, l *run) error {
	a := attemptOf(l)
	if a == nil {
		return nil
	}
	if !a.reaches(true) {
		if !a.nears() {
			return nil
		}
		select { // its request may be quicker than what it printed before
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(unread):
		}
		if !a.reaches(true) {
			return nil
		}
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-a.done:
		return thread.Kindf(thread.ErrRefused, "%s", exec.UsedUp(a.execution()))
	}
}

// bounded decides what follows on the end of a process that was stopped at its bound, or that reports; decided is false if
// that is not for the bound to say.
func bounded(ctx context.Context, l *run, a *attempt, x exec.Execution, state exec.State, why string) (v verdict, decided bool, err error) {
	switch {
	case !x.Reporting && a.isReached() && state != exec.Completed:
		v, err = a.sequel(func() (verdict, error) { return exhausted(ctx, l, x) })
	case x.Reporting && state == exec.Completed:
		v = reported(l, x, a.said())
	case x.Reporting && a.isReached():
		v = unreported(l, x, "it went on to call tools")
	case x.Reporting && (state == exec.Failed || state == exec.Lost):
		v = unreported(l, x, why)
	default:
		return v, false, nil
	}
	return v, true, err
}

// lostAtBound decides what follows on the loss of an execution that has used up all its calls, or that reports; ours is
// false if that is not for the bound to say.
func lostAtBound(ctx context.Context, l *run, x exec.Execution, why string) (v verdict, ours bool, err error) {
	switch {
	case x.Reporting && !waits(l, x.Prompt):
		v = unreported(l, x, why)
	case !x.Reporting && x.Exhausted() && exec.AfterLoss(x, true, why).State == exec.Queued:
		v, err = exhausted(ctx, l, x)
	default:
		return v, false, nil
	}
	v.events = []exec.Event{{State: exec.Lost, Text: why}}
	return v, true, err
}

// exhausted decides what follows once all calls are used up: one report, if the session can be resumed. Its prompt is
// stored already, as with one that is lost.
func exhausted(ctx context.Context, l *run, x exec.Execution) (verdict, error) {
	resumes, err := resumable(ctx, l)
	if err != nil {
		return verdict{}, err
	}
	if !resumes {
		return unreported(l, x, "its session cannot be resumed"), nil
	}
	prompt, err := promptAgain(ctx, l, x, exec.AskReport(x))
	switch {
	case err != nil && passing(err):
		return verdict{}, err
	case err != nil:
		return unreported(l, x, reason(err)), nil
	}
	return verdict{
		state: exec.Queued, prompt: prompt, reports: true,
		reason: exec.UsedUp(x) + "; it reports what is done and what is not",
	}, nil
}

// reported is the end of an execution that has reported. It has completed if it says that nothing is missing: its last
// call may have been the last one that it needed.
func reported(l *run, x exec.Execution, report string) verdict {
	gap, named := exec.GapOf(report)
	why := exec.UsedUp(x)
	switch {
	case named && gap == "":
		return verdict{state: exec.Completed, reason: why + ", and nothing is missing"}
	case named:
		why += "; missing: " + gap
	default:
		why += ", and its report names no gap"
	}
	return verdict{state: exec.Failed, reason: why, gap: gap, failure: exec.Classify(exec.Ending{Cause: exec.CauseCalls, Reason: why}, l.cfg.now())}
}

// unreported is the end of an execution that has not reported, and is not asked again.
func unreported(l *run, x exec.Execution, because string) verdict {
	why := exec.UsedUp(x) + ", and it has not reported: " + because
	return verdict{state: exec.Failed, reason: why, failure: exec.Classify(exec.Ending{Cause: exec.CauseCalls, Reason: why}, l.cfg.now())}
}

// overlong stages an answer that is longer than its words allow, once, and returns its token with a remark for the record;
// "" if it is not too long, or could not be staged.
func overlong(ctx context.Context, l *run, a *attempt, x exec.Execution, v verdict) (thread.Token, []exec.Event) {
	if x.Caps.Words <= 0 || v.state != exec.Completed && !x.Reporting {
		return "", nil
	}
	answer := a.said()
	n := exec.Words(answer)
	if n <= x.Caps.Words {
		return "", nil
	}
	a.bound.staging.Do(func() {
		if l.cfg.Runs.Stage == nil {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, stageLimit)
		defer cancel()
		about := thread.StageRequest{Source: x.Name + " answer", Kind: thread.DataText, Thread: x.Thread}
		token, err := l.cfg.Runs.Stage(ctx, about, strings.NewReader(answer))
		if err != nil {
			l.cfg.Log.Warn("stage the answer of a run", "execution", a.name, "err", err)
		}
		a.bound.whole = token
	})
	text := fmt.Sprintf("its answer has %d words, %d are allowed", n, x.Caps.Words)
	if a.bound.whole != "" {
		text += ": the whole is " + string(a.bound.whole)
	}
	return a.bound.whole, []exec.Event{{Kind: "note", Text: text}}
}
