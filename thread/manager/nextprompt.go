package manager

import (
	"context"
	"errors"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	exec "orchestrator/thread/work"
)

// resumable reports whether the agent's own session can be resumed. An error is one of the store that passes.
func resumable(ctx context.Context, l *run) (bool, error) {
	t := l.live.thread()
	if t.Session == "" {
		return false, nil
	}
	agent, err := l.cfg.Agents.Agent(t.Agent)
	if err != nil {
		return false, nil
	}
	p, err := l.assess(ctx, agent)
	if !passing(err) {
		err = nil // it stays so: another way is taken
	}
	return p.How == thread.ResumeNative, err
}

// waits reports whether no agent was given a prompt.
func waits(l *run, id thread.PromptID) bool {
	l.typist.outbox.mu.Lock()
	defer l.typist.outbox.mu.Unlock()
	p, known := l.typist.outbox.Prompt(id)
	return known && p.State == thread.PromptQueued
}

// passing reports whether an error is one of the store that passes.
func passing(err error) bool {
	return errors.Is(err, thread.ErrUnreachable) || thread.IsDiskFull(err) || errors.Is(err, errClosed) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// unused ends the prompt of a next attempt that an execution does not name: it has ended otherwise meanwhile.
func unused(ctx context.Context, l *run, x exec.Execution, prompt thread.PromptID) {
	if prompt != "" && prompt != x.Prompt {
		settlePrompt(ctx, l, prompt, exec.Cancelled, "its execution has ended")
	}
}

// promptAgain stores the prompt of an execution's next attempt, and returns it: the same if the agent never got it, or one
// that has the agent go on with a text, or repeats it if there is none.
func promptAgain(ctx context.Context, l *run, x exec.Execution, text string) (thread.PromptID, error) {
	p, err := l.cfg.Store.Prompt(ctx, x.Prompt)
	if err != nil {
		return "", err
	}
	p = l.typist.upToDate(p)
	l.typist.outbox.mu.Lock()
	again := l.typist.outbox.Filter(func(q thread.Prompt) bool {
		return q.State == thread.PromptQueued && (q.ID == p.ID || q.Again == p.ID)
	})
	l.typist.outbox.mu.Unlock()
	if len(again) > 0 {
		l.typist.bind(again[0].ID)
		return again[0].ID, nil
	}
	next := thread.Prompt{ID: thread.NewPromptID(), From: thread.FromVerb, Text: p.Text, Lines: p.Lines, Again: p.ID}
	switch {
	case text != "" && p.State != thread.PromptRefused && p.State != thread.PromptCancelled: // it has the prompt
		next.Text, next.Lines = text, false
	case p.Cut:
		return "", errors.New("its prompt is no longer whole")
	}
	l.typist.bind(next.ID)
	if _, err = l.typist.accept(ctx, next); err != nil {
		return "", err
	}
	failpoint.Hit("thread.exec.again")
	return next.ID, nil
}
