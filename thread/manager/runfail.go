package manager

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// goOnAfter is the prompt for an agent that goes on once the way to its model is there again.
const goOnAfter = "The connection to your model failed before you had finished. Look at what is already done, then finish it."

// redo is the prompt for an agent that has failed, and is to find another way: one look at what failed, then the other
// approach.
func redo(what string) string {
	return "Your last attempt failed: " + line(what) + ". Look once at what tells you why. Then take another approach and finish " +
		"the task; do not repeat what failed."
}

// failed decides what becomes of an execution whose newest attempt has failed. If it is tried again, the prompt for that is
// stored already, as with one that is lost, and the attempt is counted in the row that queues it: nothing that a crash
// leaves is tried more often than was decided.
func failed(ctx context.Context, l *run, a *attempt, x exec.Execution, end exec.Ending) (verdict, error) {
	now := l.cfg.now()
	f := exec.Classify(end, now)
	next := exec.AfterFailure(x, f, exec.Retrying{
		Tries: l.cfg.Runs.Tries, Continue: l.cfg.Limits.Continue, Fallback: x.Offers() && byItself(l.live.thread().Launch, x),
	}, now, rand.Float64)
	v := verdict{state: exec.Failed, reason: next.Reason, failure: f, again: next.Again, after: next.After, notice: next.Notice}
	var text string
	switch next.Again {
	case exec.AgainNever:
		return v, nil
	case exec.AgainFallback:
		v.reason = fmt.Sprintf("%s; its fallback %s goes on", v.reason, x.Fallback)
		if _, is := exec.FallbackModel(x.Fallback); !is { // the other agent's execution has its own prompt
			v.state = exec.Queued
			return v, nil
		}
		text = goOnAfter
	case exec.AgainSame:
		text = goOnAfter
	case exec.AgainOther:
		text = redo(f.What)
	}
	resumes, err := resumable(ctx, l)
	if err != nil {
		return v, err
	}
	if !a.worked() && !x.Worked() || !resumes { // it has done nothing, or nobody could go on: the whole prompt again
		if text, err = repeat(ctx, l, x, next.Again == exec.AgainOther, f.What); err != nil && passing(err) {
			return v, err
		}
	}
	prompt, err := promptAgain(ctx, l, x, text)
	switch {
	case err != nil && passing(err):
		return v, err
	case err != nil:
		v.again, v.after = exec.AgainNever, now
		v.reason = next.Reason + ", and it cannot be tried again: " + reason(err)
		return v, nil
	}
	v.state, v.prompt = exec.Queued, prompt
	return v, nil
}

// byItself reports whether a fallback may take the place of an agent with nobody looking. Another agent knows neither the
// permission mode nor the arguments that were chosen for this one: there a person decides.
func byItself(f thread.Flags, x exec.Execution) bool {
	_, model := exec.FallbackModel(x.Fallback)
	return model || f.PermissionMode == "" && len(f.Args) == 0
}

// repeat returns the prompt of an execution's next attempt that begins again: "" for the same, or the first one with what
// failed.
func repeat(ctx context.Context, l *run, x exec.Execution, other bool, what string) (string, error) {
	if !other {
		return "", nil
	}
	p, err := firstPrompt(ctx, l.cfg, x.Prompt)
	if err != nil {
		return "", err
	}
	return p.Text + "\n\nAn earlier attempt at this failed: " + line(what) + ". Take another approach.", nil
}

// firstPrompt returns what was asked at first, of a prompt that was asked again.
func firstPrompt(ctx context.Context, cfg *Config, id thread.PromptID) (thread.Prompt, error) {
	p, err := cfg.Store.Prompt(ctx, id)
	for n := 0; err == nil && p.Again != "" && n < 100; n++ {
		p, err = cfg.Store.Prompt(ctx, p.Again)
	}
	if err == nil && p.Cut {
		err = errors.New("it is no longer whole")
	}
	return p, err
}

// noteEnd takes the end of an attempt, once it is stored: what failed is counted for its way, and people are told of what
// was not the first failure in a row.
func noteEnd(l *run, x exec.Execution, v verdict) {
	f := v.failure
	if f.Class == "" {
		f = x.Failure
	}
	if l.open.ways.ended(x, x.State, f) {
		l.notices.post("", thread.LevelWarn, "%s failed several times in a row: its runs wait a while. `orchestrator queue list` says until when",
			x.Agent)
	}
	if v.notice && x.State == exec.Queued {
		l.notices.post(l.live.id, thread.LevelWarn, "%s: %s failed again: %s", l.live.thread().DisplayName(), x.Name, v.reason)
	}
}
