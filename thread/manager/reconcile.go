package manager

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/turns"
)

// leftBehind is the reason of a prompt that was open or being typed when no agent runs.
const leftBehind = "the server ended before it was answered"

// reconcile is the step that finds out what became of prompts that an earlier server left with an agent that is gone.
// One that was answered just before the end is settled with its turn first. One that was being typed is queued again,
// unless the agent's files contain it, or it is a command, of which they never tell: nothing is sent twice unless it is
// known not to have arrived.
func (l *run) reconcile(ctx context.Context) {
	l.recorder.Settle(ctx)
	d := &l.typist.outbox
	var wrote []byte
	for _, p := range l.left() {
		if p.State == thread.PromptTyping && wrote == nil {
			wrote = append(l.recorder.Written(ctx), ' ')
		}
		d.mu.Lock()
		if now, known := d.Prompt(p.ID); known && now.State == p.State {
			e, reason := outbox.Stopped, leftBehind
			if p.State == thread.PromptTyping && !turns.Command(p.Text) && !mentions(wrote, p.Text) {
				e, reason = outbox.Postponed, "the server ended before it was typed"
				p.Steered = false
			}
			if p.From == thread.FromPrimer { // the next start writes it again
				e = outbox.Forgotten
			}
			l.typist.put(ctx, l.typist.after(p, e, reason)) //nolint:errcheck // logged; the outbox has it
		}
		d.mu.Unlock()
	}
}

// mentions reports whether an agent's files contain a prompt: its first words, as JSON writes them.
func mentions(wrote []byte, text string) bool {
	const enough = 80
	raw, err := json.Marshal(plaintext.Cut(plaintext.FirstLine(text), enough))
	if err != nil || len(raw) < 3 {
		return false
	}
	return bytes.Contains(wrote, raw[1:len(raw)-1])
}

// left returns the prompts that an agent was given and that are not part of a checkpoint waiting to be stored.
func (l *run) left() []thread.Prompt {
	l.typist.outbox.mu.Lock()
	defer l.typist.outbox.mu.Unlock()
	return l.typist.outbox.Filter(func(p thread.Prompt) bool {
		return (p.State == thread.PromptTyping || p.State == thread.PromptOpen) && !l.recorder.Answers(p.ID)
	})
}

// interruptPrompts is the step at the end of a run: the prompts that the agent had are interrupted. If the agent ended
// by itself, a command is what ended it.
func (l *run) interruptPrompts(ctx context.Context, why string, itself bool) {
	for _, p := range l.left() {
		l.typist.outbox.mu.Lock()
		if p, known := l.typist.outbox.Prompt(p.ID); known && p.State == thread.PromptOpen {
			e, why := outbox.Stopped, why
			if itself && p.Turn == 0 && turns.Command(p.Text) {
				e, why = outbox.Taken, outbox.EndedWith
			}
			l.typist.put(ctx, l.typist.after(p, e, why)) //nolint:errcheck // logged; the outbox has it
		}
		l.typist.outbox.mu.Unlock()
	}
}

// answeredOther is the step after an answer to one of the first model requests: it says nothing about the prompts that
// the agent has and that its turn does not answer.
func (l *run) answeredOther(requests int) {
	l.typist.outbox.mu.Lock()
	defer l.typist.outbox.mu.Unlock()
	for _, p := range l.typist.outbox.Filter(func(p thread.Prompt) bool { return p.State == thread.PromptOpen && p.Turn == 0 }) {
		if begun, known := l.typist.outbox.Begun(p.ID); known {
			l.typist.outbox.Begin(p.ID, max(begun, requests))
		}
	}
}

// promptReceived is the step that handles evidence that the agent has a prompt: a hook's report, or the first request
// to its model. A prompt that is not in the outbox was typed by the person in the agent itself.
func (l *run) promptReceived(ctx context.Context, said string, hook bool) {
	if strings.TrimSpace(said) == "" {
		return
	}
	d := &l.typist.outbox
	d.mu.Lock()
	defer d.mu.Unlock()
	found := d.Claim(said, hook)
	if len(found) == 0 {
		if said = turns.Person(said); said == "" {
			return // a program's own note
		}
		found = d.Claim(said, hook)
	}
	if len(found) == 0 {
		if l.recorder.SaysAgain(said, hook) {
			return // of the current turn
		}
		if found = d.ClaimPast(said); len(found) == 0 && len(d.ClaimMoved(said)) > 0 {
			return
		}
	}
	l.live.mu.Lock()
	requests := l.live.requests.Begun()
	l.live.mu.Unlock()
	if !hook {
		requests-- // it is that request
	}
	if len(found) == 0 {
		found = []thread.Prompt{l.typist.ofPane(said)}
		l.typist.prompted(l.live, said)
	}
	for _, p := range found {
		if _, known := d.Begun(p.ID); !known {
			d.Begin(p.ID, requests)
		}
		if hook {
			d.MarkReported(p.ID)
		}
		if p.State == thread.PromptOpen {
			continue
		}
		l.typist.put(ctx, l.typist.after(p, outbox.Received, "")) //nolint:errcheck // logged; an answer reports it again
	}
	for _, p := range d.Superseded(0) {
		l.typist.put(ctx, l.typist.after(p, outbox.Taken, superseded)) //nolint:errcheck // logged; the outbox has it
	}
	l.typist.checkIdle()
}
