package manager

import (
	"cmp"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
	"orchestrator/thread/plaintext"
)

// turnPrompts is the outbox as the thread's recorder sees it: it implements recording.Prompts.
type turnPrompts struct{ typist *typist }

// Claim returns the prompts that a text contains, of those that the agent has and that no turn is known to answer.
func (l turnPrompts) Claim(said string) []thread.Prompt {
	l.typist.outbox.mu.Lock()
	defer l.typist.outbox.mu.Unlock()
	return l.typist.outbox.Claim(said, false)
}

// Missed returns the prompts that a text contains, of those that seemed lost.
func (l turnPrompts) Missed(said string) []thread.Prompt {
	l.typist.outbox.mu.Lock()
	defer l.typist.outbox.mu.Unlock()
	return l.typist.outbox.ClaimPast(said)
}

// Answering returns the prompts that a turn is about, as they are stored with its first response; the first one names
// the turn. fresh are those that the agent is known to have; if there are none, it is one that seemed lost, or one that
// nobody reported. Of very many in one turn the older ones end as taken.
func (l turnPrompts) Answering(
	said string, fresh []thread.Prompt, turn int, first thread.PromptID,
) (_ []thread.Prompt, told bool) {
	d := &l.typist.outbox
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(fresh) == 0 {
		fresh = d.ClaimPast(said)
	}
	if len(fresh) == 0 && strings.TrimSpace(said) != "" {
		fresh = []thread.Prompt{l.typist.ofPane(said)}
	}
	for i := range fresh {
		p := &fresh[i]
		if first == "" {
			first = p.ID
		} else {
			p.With = first
		}
		*p = l.typist.after(*p, outbox.Answering, "")
		p.Turn = turn
		told = told || d.Reported(p.ID)
		l.typist.place(*p)
	}
	for _, p := range d.Superseded(turn) {
		p = l.typist.after(p, outbox.Taken, superseded)
		l.typist.place(p)
		fresh = append(fresh, p)
	}
	return fresh, told
}

// superseded is the reason of a prompt that ended because many later ones have followed.
const superseded = "later prompts followed before it was answered"

// ofPane is a prompt that the person typed in the agent itself. What is longer than a prompt may be is cut off: the turn
// has the whole.
func (l *typist) ofPane(said string) thread.Prompt {
	text := said
	if len(said) > thread.MaxPrompt {
		text = strings.Clone(plaintext.Cut(said, thread.MaxPrompt))
	}
	return thread.Prompt{
		ID: thread.NewPromptID(), Thread: l.live.id, From: thread.FromPane, Text: text, Cut: text != said, Accepted: l.cfg.now(),
	}
}

// Ended returns the prompts of the turn that a checkpoint ends, as they are stored with it.
func (l turnPrompts) Ended(ids []thread.PromptID, c thread.Checkpoint, why string) []thread.Prompt {
	l.typist.outbox.mu.Lock()
	defer l.typist.outbox.mu.Unlock()
	var out []thread.Prompt
	for _, id := range ids {
		p, known := l.typist.outbox.Prompt(id)
		if !known { // it ended with its agent, before its turn did
			stored, err := l.typist.cfg.Store.Prompt(l.typist.work.ctx, id)
			if err != nil || stored.Answer != "" || !stored.State.Over() {
				continue
			}
			p = stored
		}
		if p.State == thread.PromptAnswered {
			continue
		}
		if c.Interrupted {
			how := cmp.Or(why, "cut off before its turn ended")
			if p.State == thread.PromptInterrupted {
				how = cmp.Or(p.Reason, how) // what ended it is known better than what followed
			}
			p = l.typist.after(p, outbox.Cut, how)
		} else {
			p = l.typist.after(p, outbox.Answered, "").Brief()
		}
		p.Answer, p.Turn = c.ID, c.Turn
		out = append(out, p)
	}
	return out
}

// Of returns the prompts of the newest checkpoint's turn that may still change.
func (l turnPrompts) Of(c thread.Checkpoint) []thread.PromptID {
	l.typist.outbox.mu.Lock()
	defer l.typist.outbox.mu.Unlock()
	var ids []thread.PromptID
	for _, p := range l.typist.outbox.Filter(func(p thread.Prompt) bool {
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
	l.typist.outbox.mu.Lock()
	defer l.typist.outbox.mu.Unlock()
	for _, p := range ps {
		if now, known := l.typist.outbox.Prompt(p.ID); known {
			if p.Seq = now.Seq; p.Seq == 0 {
				if stored, err := l.typist.cfg.Store.Prompt(l.typist.work.ctx, p.ID); err == nil {
					p.Seq = stored.Seq
				}
			}
			if p.State == thread.PromptOpen && now.State != thread.PromptTyping {
				now.Seq = p.Seq
				l.typist.outbox.Keep(now)
				continue // already published; it may have progressed
			}
		}
		l.typist.place(p)
	}
	l.typist.wake()
}

// Lost ends prompts whose checkpoint can never be stored.
func (l turnPrompts) Lost(ps []thread.Prompt) {
	l.typist.outbox.mu.Lock()
	defer l.typist.outbox.mu.Unlock()
	for _, p := range ps {
		if p.State.Over() {
			p = l.typist.after(p, outbox.Lost, "its answer could not be stored")
			l.typist.put(l.typist.work.ctx, p) //nolint:errcheck // logged; the outbox has it
		}
	}
}
