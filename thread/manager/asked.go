package manager

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
)

// begins reports whether a response begins a turn, and which unanswered prompts it is about. spoke is set if its
// request contains words of the person that the one before did not.
func (l *recorder) begins(e thread.Exchange, spoke bool) (begins bool, fresh []thread.Prompt) {
	r := &l.rec
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	fresh = l.outbox.Claim(e.Prompt, false)
	ours := slices.ContainsFunc(fresh, func(p thread.Prompt) bool { return p.From != thread.FromPane })
	if r.head == "" {
		return !r.phase.open(), fresh
	}
	return r.phase.begins(spoke, e.Prompt != "" && !r.same(e.Prompt), len(fresh) > 0, ours), fresh
}

// answering returns the prompts that a turn is about, as they are stored with its first response; the first one names
// the turn. fresh are those that the agent is known to have; if there are none, it is one that seemed lost, or one that
// nobody reported.
func (l *recorder) answering(said string, fresh []thread.Prompt) []thread.Prompt {
	r := &l.rec
	d := &l.outbox
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(fresh) == 0 {
		fresh = d.ClaimPast(said)
	}
	if len(fresh) == 0 && strings.TrimSpace(said) != "" {
		fresh = []thread.Prompt{{
			ID: thread.NewPromptID(), Thread: l.id, From: thread.FromPane, Text: said, Accepted: l.now(),
		}}
	}
	var first thread.PromptID
	if len(r.asked) > 0 {
		first = r.asked[0]
	}
	for i := range fresh {
		p := &fresh[i]
		if first == "" {
			first = p.ID
		} else {
			p.With = first
		}
		*p = l.after(*p, outbox.Answering, "")
		p.Turn = r.turn
		r.asked = append(r.asked, p.ID)
		r.told = r.told || d.Reported(p.ID)
		l.place(*p)
	}
	return fresh
}

// ends returns the prompts of the turn that a checkpoint ends, as they are stored with it.
func (l *recorder) ends(c thread.Checkpoint, why string) []thread.Prompt {
	r := &l.rec
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	var out []thread.Prompt
	for _, id := range r.asked {
		p, known := l.outbox.Prompt(id)
		if !known || p.State == thread.PromptAnswered {
			continue
		}
		if c.Interrupted {
			p = l.after(p, outbox.Cut, cmp.Or(why, "stopped before the turn ended"))
		} else {
			p = l.after(p, outbox.Answered, "").Brief()
		}
		p.Answer, p.Turn = c.ID, c.Turn
		out = append(out, p)
	}
	return out
}

// askedIn returns the prompts of the newest checkpoint's turn that may still change.
func (l *recorder) askedIn(c thread.Checkpoint) []thread.PromptID {
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	var ids []thread.PromptID
	for _, p := range l.outbox.Filter(func(p thread.Prompt) bool {
		return p.Turn == c.Turn && c.Turn > 0 && (p.Answer == "" || p.Answer == c.ID)
	}) {
		ids = append(ids, p.ID)
	}
	return ids
}

// left returns the prompts that an agent was given and that are not part of a checkpoint waiting to be stored.
func (l *recorder) left() []thread.Prompt {
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	return l.outbox.Filter(func(p thread.Prompt) bool {
		return (p.State == thread.PromptTyping || p.State == thread.PromptOpen) && !l.rec.answers(p.ID)
	})
}

// interruptPrompts is the step at the end of a run: the prompts that the agent had are interrupted.
func (l *recorder) interruptPrompts(ctx context.Context, why string) {
	for _, p := range l.left() {
		l.outbox.mu.Lock()
		if p, known := l.outbox.Prompt(p.ID); known && p.State == thread.PromptOpen {
			l.put(ctx, l.after(p, outbox.Stopped, why)) //nolint:errcheck // logged; the outbox has it
		}
		l.outbox.mu.Unlock()
	}
}

// spoke reports whether a response's request contains words of the person that the conversation did not contain before:
// an agent may continue by itself after a turn, with the results of a background sub-agent. keep is how many of its
// items are already stored.
func (l *recorder) spoke(e arrival, keep int) bool {
	r := &l.rec
	switch {
	case e.direct, len(e.Items) == 0, l.cfg.Reader == nil:
		return r.phase != phaseLeft || e.Prompt != "" && !r.same(e.Prompt)
	case e.Prompt != "" && !r.same(e.Prompt):
		return true
	case len(e.Items) < len(r.hashes): // it was compacted, or the person went back and repeated a prompt
		return false
	}
	count := func(all []bool) (n int) {
		for _, is := range all {
			if is {
				n++
			}
		}
		return n
	}
	return count(l.spoken(e.Items[keep:])) > count(r.spoken[keep:])
}
