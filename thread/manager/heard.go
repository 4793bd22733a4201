package manager

import (
	"context"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
	"orchestrator/thread/turns"
)

// heard is the step that takes evidence that the agent has a prompt: a hook's word, or the first request to its
// model. One that is not on the desk was typed by the person in the agent itself.
func (l *line) heard(ctx context.Context, said string, hook bool) {
	if strings.TrimSpace(said) == "" {
		return
	}
	r, d := &l.rec, &l.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	found := d.Claim(said, hook)
	if len(found) == 0 {
		if turns.Same(said, r.said) && !(hook && r.told) {
			r.told = true // of the turn that is known
			return
		}
		found = d.ClaimPast(said)
	}
	l.m.mu.Lock()
	requests := l.requests.Begun()
	l.m.mu.Unlock()
	if !hook {
		requests-- // it is that request
	}
	if len(found) == 0 {
		found = []thread.Prompt{{ID: thread.NewPromptID(), Thread: l.id, From: thread.FromPane, Text: said, Accepted: l.m.now()}}
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

// rest looks after a while whether the agent is at rest with a prompt that it took. It does not block.
func (l *line) rest() { l.restFor(turns.AfterRequest) }

func (l *line) restFor(wait time.Duration) {
	l.m.mu.Lock()
	due := l.judging
	if l.asked.Open {
		l.judging = true
	}
	open := l.asked.Open
	l.m.mu.Unlock()
	if due || !open {
		return
	}
	l.later(wait, func() {
		l.m.mu.Lock()
		l.judging = false
		l.m.mu.Unlock()
		if wait := l.judge(l.m.ctx); wait > 0 {
			l.restFor(wait)
		}
	})
}

// verdicts are what becomes of a prompt that the agent is at rest with.
var verdicts = map[turns.Verdict]outbox.Event{
	turns.Taken: outbox.Dealt, turns.Interrupted: outbox.Stopped, turns.Refused: outbox.Refused,
}

// judge is the step that ends prompts that the agent took and is at rest with; it returns when to look again, 0 for
// not before something happens.
func (l *line) judge(ctx context.Context) time.Duration {
	d, m := &l.desk, l.m
	d.mu.Lock()
	defer d.mu.Unlock()
	m.mu.Lock()
	since, rests := atRest(l.reported)
	rests = rests && l.session != nil && l.requests.Quiet()
	requests, failure := l.requests.Begun(), l.requests.Failure()
	m.mu.Unlock()
	if !rests {
		return 0
	}
	var again time.Duration
	ended := false
	for _, p := range d.Which(func(p thread.Prompt) bool { return p.State == thread.PromptOpen && p.Turn == 0 }) {
		begun, known := d.Begun(p.ID)
		if !known {
			begun = requests
		}
		begin := since
		if p.Opened.After(begin) {
			begin = p.Opened
		}
		v, reason, wait := turns.Rest(turns.Resting{For: m.now().Sub(begin), Text: p.Text, Requests: requests - begun, Failure: failure})
		if v == turns.Wait {
			if again == 0 || wait < again {
				again = wait
			}
			continue
		}
		p = l.after(p, verdicts[v], reason)
		l.put(ctx, p) //nolint:errcheck // logged; the desk has it
		ended = true
		if v == turns.Refused {
			l.offerAgain(p)
		}
	}
	if ended {
		l.typeNext()
	}
	return again
}

// atRest reports since when an agent waits for a prompt: it is idle, or it has given up on its provider.
func atRest(r thread.StateReport) (since time.Time, ok bool) {
	return r.Since, waiting(r.State) || r.Stuck
}
