package manager

import (
	"cmp"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
)

// turnPrompts is the desk as the thread's recorder sees it: it implements recording.Prompts.
type turnPrompts struct{ *typist }

// Claim returns the prompts that a text holds, of those that are with the agent and that no turn is known to answer.
func (l turnPrompts) Claim(said string) []thread.Prompt {
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	return l.desk.Claim(said, false)
}

// Answering returns the prompts that a turn is about, as they are to be stored with its first response; the turn is
// named by the first of them. fresh are those that are known to be with the agent; with none, it is one that seemed to
// have come to nothing, or that nobody told of before.
func (l turnPrompts) Answering(
	said string, fresh []thread.Prompt, turn int, first thread.PromptID,
) (_ []thread.Prompt, told bool) {
	d := &l.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(fresh) == 0 {
		fresh = d.ClaimPast(said)
	}
	if len(fresh) == 0 && strings.TrimSpace(said) != "" {
		fresh = []thread.Prompt{l.ofPane(said)}
	}
	for i := range fresh {
		p := &fresh[i]
		if first == "" {
			first = p.ID
		} else {
			p.With = first
		}
		*p = l.after(*p, outbox.Answering, "")
		p.Turn = turn
		told = told || d.Told(p.ID)
		l.place(*p)
	}
	return fresh, told
}

// ofPane is a prompt that the person typed in the agent itself.
func (l *typist) ofPane(said string) thread.Prompt {
	return thread.Prompt{
		ID: thread.NewPromptID(), Thread: l.id, From: thread.FromPane, Text: said, Accepted: l.now(),
	}
}

// Ended returns the prompts of the turn that ends with a checkpoint, as they are to be stored with it.
func (l turnPrompts) Ended(ids []thread.PromptID, c thread.Checkpoint, why string) []thread.Prompt {
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	var out []thread.Prompt
	for _, id := range ids {
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

// Of returns the prompts of the turn of the newest checkpoint, as far as something may come of them.
func (l turnPrompts) Of(c thread.Checkpoint) []thread.PromptID {
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

// Stored takes over prompts that were stored with a checkpoint.
func (l turnPrompts) Stored(ps []thread.Prompt) {
	if len(ps) == 0 {
		return
	}
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	for _, p := range ps {
		if now, known := l.desk.Prompt(p.ID); known {
			if p.Seq = now.Seq; p.Seq == 0 {
				if stored, err := l.cfg.Store.Prompt(l.ctx, p.ID); err == nil {
					p.Seq = stored.Seq
				}
			}
			if p.State == thread.PromptOpen && now.State != thread.PromptTyping {
				now.Seq = p.Seq
				l.desk.Keep(now)
				continue // told already; it may be further by now
			}
		}
		l.place(p)
	}
	l.typeNext()
}

// Lost ends prompts whose checkpoint can never be stored.
func (l turnPrompts) Lost(ps []thread.Prompt) {
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	for _, p := range ps {
		if p.State.Over() {
			l.put(l.ctx, l.after(p, outbox.Lost, "its answer could not be stored")) //nolint:errcheck // logged; the desk has it
		}
	}
}
