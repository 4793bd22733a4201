package manager

import (
	"context"
	"errors"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/manager/outbox"
	exec "orchestrator/thread/work"
)

// A prompt for a thread whose run works goes into its turn, if its CLI can take one there, and is the thread's next run
// otherwise. One that was given to a run and that its agent had not taken when it ended is the next run, too. It is stored
// before it is given, as every prompt: a crash in between leaves one that was not given, which the next start of the
// server makes a run of its own, or one of which nobody knows whether it was taken, which is never given again by itself.
// Whoever asked for it pays for what it becomes, also then.

// steer gives a prompt to the turn that a thread's run works on. It reports false if there is none that takes one.
func steer(ctx context.Context, l *run, p thread.Prompt) (_ thread.Prompt, given bool, err error) {
	a, s := attemptOf(l), l.live.running()
	if a == nil || s == nil || !takes(l, a, s) {
		return p, false, nil
	}
	p.ID = thread.NewPromptID()
	l.typist.bind(p.ID)
	if p, err = l.typist.accept(ctx, p); err != nil {
		return p, true, err
	}
	failpoint.Hit("thread.steer.accepted")
	d := &l.typist.outbox
	d.mu.Lock()
	p.Steered = true
	p, err = l.typist.put(ctx, l.typist.after(p, outbox.TypingBegan, ""))
	if err == nil {
		l.live.mu.Lock()
		d.Begin(p.ID, l.live.requests.Begun())
		l.live.mu.Unlock()
	}
	d.mu.Unlock()
	if err == nil {
		failpoint.Hit("thread.steer.typing")
		a.steers(p)
		err = s.Send(ctx, p.Text)
	}
	if err != nil {
		a.steered(p.Text)
		return steeredNot(ctx, l, p, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if now, known := d.Prompt(p.ID); known && now.State == thread.PromptTyping { // else a request has shown that already
		p, _ = l.typist.put(ctx, l.typist.after(now, outbox.Typed, "given to "+a.name+", which works"))
	}
	return p, true, nil
}

// takes reports whether a run works on a turn that takes further prompts, and nothing of the thread waits before them. One
// that only reports, or is being stopped, takes none: what it is asked would not be done.
func takes(l *run, a *attempt, s thread.Session) bool {
	if r, tells := s.(thread.Readier); !tells || r.Ready() != nil {
		return false
	}
	x := a.execution()
	if x.State != exec.Running && x.State != exec.NeedsInput || x.Reporting || a.stops() {
		return false
	}
	for _, other := range l.open.list() {
		if other.Thread == x.Thread && other.ID != x.ID {
			return false
		}
	}
	l.typist.outbox.mu.Lock()
	defer l.typist.outbox.mu.Unlock()
	p, known := l.typist.outbox.Prompt(x.Prompt)
	return known && p.State == thread.PromptOpen
}

// steeredNot has a prompt that a run did not take become the thread's next one.
func steeredNot(ctx context.Context, l *run, p thread.Prompt, cause error) (thread.Prompt, bool, error) {
	d := &l.typist.outbox
	d.mu.Lock()
	if now, known := d.Prompt(p.ID); known && now.State == thread.PromptTyping {
		now.Steered = false
		p, _ = l.typist.put(ctx, l.typist.after(now, outbox.Postponed, line(cause.Error())))
	}
	d.mu.Unlock()
	if p.State != thread.PromptQueued {
		return p, true, nil // it has it all the same
	}
	return p, true, queuePrompt(ctx, l, p)
}

// queueUntaken is the step after the end of a run that has what its agent was given and did not take become the thread's
// next runs. What was cancelled takes nothing more.
func queueUntaken(ctx context.Context, l *run, a *attempt, x exec.Execution) {
	left := a.untaken()
	if len(left) == 0 || x.State == exec.Cancelled || l.work.closes() {
		return
	}
	for _, p := range left {
		l.typist.outbox.mu.Lock()
		p, known := l.typist.outbox.Prompt(p.ID)
		l.typist.outbox.mu.Unlock()
		if !known || !p.State.Again() || p.Turn != 0 { // it was taken, whatever was reported
			continue
		}
		again := thread.Prompt{From: p.From, Text: p.Text, Lines: p.Lines, By: p.By, Within: p.Within}
		if _, err := submit(ctx, l, again, order{again: p.ID}); err != nil && !errors.Is(err, errClosed) {
			l.notices.post(l.live.id, thread.LevelWarn, "%s: a prompt that %s did not take any more was not queued: %v",
				l.live.thread().DisplayName(), a.name, err)
		}
	}
}
