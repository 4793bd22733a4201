package manager

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
)

// begins reports whether a response begins a turn, and which prompts it is about that no turn answered yet. spoke is
// set where its request holds a word of the person that the one before did not.
func (l *recorder) begins(e thread.Exchange, spoke bool) (begins bool, fresh []thread.Prompt) {
	r := &l.rec
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	fresh = l.desk.Claim(e.Prompt, false)
	ours := slices.ContainsFunc(fresh, func(p thread.Prompt) bool { return p.From != thread.FromPane })
	if r.head == "" {
		return !r.phase.open(), fresh
	}
	return r.phase.begins(spoke, e.Prompt != "" && !r.same(e.Prompt), len(fresh) > 0, ours), fresh
}

// answering returns the prompts that a turn is about, as they are to be stored with its first response; the turn is
// named by the first of them. fresh are those that are known to be with the agent; with none, it is one that seemed to
// have come to nothing, or that nobody told of before.
func (l *recorder) answering(said string, fresh []thread.Prompt) []thread.Prompt {
	r := &l.rec
	d := &l.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(fresh) == 0 {
		fresh = d.ClaimPast(said)
	}
	if len(fresh) == 0 && strings.TrimSpace(said) != "" {
		fresh = []thread.Prompt{{ID: thread.NewPromptID(), Thread: l.id, From: thread.FromPane, Text: said, Accepted: l.now()}}
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
		r.told = r.told || d.Told(p.ID)
		l.place(*p)
	}
	return fresh
}

// ends returns the prompts of the turn that ends with a checkpoint, as they are to be stored with it.
func (l *recorder) ends(c thread.Checkpoint, why string) []thread.Prompt {
	r := &l.rec
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	var out []thread.Prompt
	for _, id := range r.asked {
		p, known := l.desk.Prompt(id)
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

// askedIn returns the prompts of the turn of the newest checkpoint, as far as something may come of them.
func (l *recorder) askedIn(c thread.Checkpoint) []thread.PromptID {
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	var ids []thread.PromptID
	for _, p := range l.desk.Which(func(p thread.Prompt) bool {
		return p.Turn == c.Turn && c.Turn > 0 && (p.Answer == "" || p.Answer == c.ID)
	}) {
		ids = append(ids, p.ID)
	}
	return ids
}

// left returns the prompts that were given to an agent and are not in a checkpoint that waits to be stored.
func (l *recorder) left() []thread.Prompt {
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	return l.desk.Which(func(p thread.Prompt) bool {
		return (p.State == thread.PromptTyping || p.State == thread.PromptOpen) && !l.rec.answers(p.ID)
	})
}

// dismiss is the step at the end of a run: what the agent had is interrupted.
func (l *recorder) dismiss(ctx context.Context, why string) {
	for _, p := range l.left() {
		l.desk.mu.Lock()
		if p, known := l.desk.Prompt(p.ID); known && p.State == thread.PromptOpen {
			l.put(ctx, l.after(p, outbox.Stopped, why)) //nolint:errcheck // logged; the desk has it
		}
		l.desk.mu.Unlock()
	}
}

// spoke reports whether a response's request holds words of the person that the conversation did not hold before: an
// agent may go on after a turn by itself, with what a sub-agent in the background has found. keep is how many of its
// items stand already.
func (l *recorder) spoke(e arrival, keep int) bool {
	r := &l.rec
	switch {
	case e.direct, len(e.Items) == 0, l.cfg.Reader == nil:
		return r.phase != phaseLeft || e.Prompt != "" && !r.same(e.Prompt)
	case e.Prompt != "" && !r.same(e.Prompt):
		return true
	case len(e.Items) < len(r.hashes): // it was compacted, or the person went back in it and said the same
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

// spoken says which items hold words of the person.
func (l *recorder) spoken(items []thread.Item) []bool {
	out := make([]bool, len(items))
	for i := range items {
		out[i] = slices.ContainsFunc(l.past.Entries(items[i:i+1]),
			func(e thread.Entry) bool { return e.Kind == thread.EntryPrompt && strings.TrimSpace(e.Text) != "" })
	}
	return out
}
