package manager

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
	"orchestrator/thread/plaintext"
)

// leftBehind is why a prompt is open or being typed and no agent runs.
const leftBehind = "the server ended before it was answered"

// reconcile is the step that finds out what became of prompts that an earlier server left with an agent that is gone.
// One that was answered in the moment of its end is: its turn is settled first. One that was being typed is queued
// again, unless the agent wrote down that it has it: nothing is sent twice that nobody saw arrive.
func (l *run) reconcile(ctx context.Context) {
	l.recorder.Settle(ctx)
	d := &l.desk
	var wrote []byte
	for _, p := range l.left() {
		if p.State == thread.PromptTyping && wrote == nil {
			wrote = append(l.recorder.Written(ctx), ' ')
		}
		d.mu.Lock()
		if now, known := d.Prompt(p.ID); known && now.State == p.State {
			e, reason := outbox.Stopped, leftBehind
			if p.State == thread.PromptTyping && !mentions(wrote, p.Text) {
				e, reason = outbox.Postponed, "the server ended before it was typed"
			}
			if p.From == thread.FromPrimer { // the next start makes it again
				e = outbox.Forgotten
			}
			l.put(ctx, l.after(p, e, reason)) //nolint:errcheck // logged; the desk has it
		}
		d.mu.Unlock()
	}
}

// mentions reports whether an agent's files hold a prompt: its first words, as JSON writes them.
func mentions(wrote []byte, text string) bool {
	const enough = 80
	raw, err := json.Marshal(plaintext.Cut(plaintext.FirstLine(text), enough))
	if err != nil || len(raw) < 3 {
		return false
	}
	return bytes.Contains(wrote, raw[1:len(raw)-1])
}

// left returns the prompts that were given to an agent and are not in a checkpoint that waits to be stored.
func (l *run) left() []thread.Prompt {
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	return l.desk.Which(func(p thread.Prompt) bool {
		return (p.State == thread.PromptTyping || p.State == thread.PromptOpen) && !l.recorder.Answers(p.ID)
	})
}

// dismiss is the step at the end of a run: what the agent had is interrupted.
func (l *run) dismiss(ctx context.Context, why string) {
	for _, p := range l.left() {
		l.desk.mu.Lock()
		if p, known := l.desk.Prompt(p.ID); known && p.State == thread.PromptOpen {
			l.put(ctx, l.after(p, outbox.Stopped, why)) //nolint:errcheck // logged; the desk has it
		}
		l.desk.mu.Unlock()
	}
}

// heard is the step that takes evidence that the agent has a prompt: a hook's word, or the first request to its
// model. One that is not on the desk was typed by the person in the agent itself.
func (l *run) heard(ctx context.Context, said string, hook bool) {
	if strings.TrimSpace(said) == "" {
		return
	}
	d := &l.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	found := d.Claim(said, hook)
	if len(found) == 0 {
		if l.recorder.SaysAgain(said, hook) {
			return // of the turn that is known
		}
		found = d.ClaimPast(said)
	}
	l.mu.Lock()
	requests := l.requests.Begun()
	l.mu.Unlock()
	if !hook {
		requests-- // it is that request
	}
	if len(found) == 0 {
		found = []thread.Prompt{l.ofPane(said)}
	}
	for _, p := range found {
		if _, known := d.Begun(p.ID); !known {
			d.Begin(p.ID, requests)
		}
		if hook {
			d.Tell(p.ID)
		}
		if p.State == thread.PromptOpen {
			continue
		}
		l.put(ctx, l.after(p, outbox.Heard, "")) //nolint:errcheck // logged; of one of the pane the answer tells again
	}
	l.rest()
}
