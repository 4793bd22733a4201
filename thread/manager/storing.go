package manager

import (
	"context"
	"errors"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
	"orchestrator/thread/plaintext"
)

// The waits between tries while the store refuses.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 2 * time.Second
)

// commit queues a checkpoint behind those that wait and tries to store them all.
func (l *recorder) commit(ctx context.Context, p put) {
	r := &l.rec
	r.pending = append(r.pending, p)
	if len(r.pending) == 1 || !r.waiting {
		l.flush(ctx)
	} else {
		l.spool()
	}
	for i := range r.pending {
		r.pending[i].shrink()
	}
}

// flush stores what is pending, in order. What the store refuses is tried again until it works or
// the thread is gone; it is never dropped silently.
func (l *recorder) flush(ctx context.Context) {
	r := &l.rec
	for len(r.pending) > 0 {
		p := r.pending[0]
		delta, err := l.deltaOf(p)
		if err != nil {
			l.giveUp(p, err)
			return
		}
		c, err := l.cfg.Store.PutCheckpoint(ctx, p.c, delta)
		if errors.Is(err, thread.ErrNotFound) && l.isGone() {
			for _, p := range r.pending {
				p.held.end()
			}
			r.pending = nil
			l.unspool()
			return
		}
		if errors.Is(err, thread.ErrNotFound) {
			if !l.graft(ctx) {
				l.giveUp(p, err)
			}
			continue
		}
		if errors.Is(err, thread.ErrInvalid) {
			r.pending[0].delta = delta
			l.lighten(err)
			continue
		}
		if err != nil {
			l.refused(p, err)
			return
		}
		r.pending[0] = put{} // what it holds is free for others
		r.pending = r.pending[1:]
		p.held.end()
		if len(r.pending) == 0 {
			l.unspool()
		}
		l.accepted(ctx, p, c)
	}
}

// accepted tells what is durable now.
func (l *recorder) accepted(ctx context.Context, p put, c thread.Checkpoint) {
	r := &l.rec
	l.mu.Lock()
	again := l.trouble != "" && len(r.pending) == 0
	if again {
		l.trouble = ""
	}
	l.sideCost -= p.cost
	l.mu.Unlock()
	r.wait = 0
	if err := l.reread(ctx); err != nil {
		l.cfg.Log.Error("read the thread after a checkpoint", "thread", string(l.id), "err", err)
	}
	l.bus.Publish(thread.Event{At: l.now(), Kind: thread.EventCheckpoint, ThreadID: l.id, Checkpoint: &c})
	l.promptsStored(p.prompts)
	if again {
		l.notice(l.id, thread.LevelInfo, "%s: all answers are stored again", l.thread().DisplayName())
	}
	if p.stored != nil {
		p.stored()
	}
}

// refused notes that the store does not take a checkpoint and plans the next try.
func (l *recorder) refused(p put, err error) {
	r := &l.rec
	l.mu.Lock()
	first := l.trouble == ""
	l.trouble = err.Error()
	l.show()
	l.mu.Unlock()
	l.spool()
	if first {
		l.notice(l.id, thread.LevelError, "%s: the answer of turn %d is not stored yet: %v. The agent goes on, and storing is tried again until it works",
			l.thread().DisplayName(), p.c.Turn, err)
	}
	r.wait = min(max(2*r.wait, firstRetry), lastRetry)
	if r.waiting {
		return
	}
	r.waiting = true
	l.later(r.wait, func() {
		r.waiting = false
		l.flush(l.ctx)
	})
}

// lighten makes the oldest pending checkpoint one that the store may take after it was refused for
// good, for instance as too large: first without the transcript, which is read again later, and then
// not at all. What it leaves out comes with the next answer, which brings the whole conversation.
func (l *recorder) lighten(cause error) {
	r := &l.rec
	p := &r.pending[0]
	if len(p.delta.Transcript) > 0 {
		l.notice(l.id, thread.LevelError, "%s: the transcript of turn %d cannot be stored: %v", l.thread().DisplayName(), p.c.Turn, cause)
		p.delta.Transcript, p.spooled = nil, false
		r.files = transcript{}
		return
	}
	l.giveUp(*p, cause)
}

// giveUp ends the storing of what is pending: it can never be. The next answer brings the conversation again.
func (l *recorder) giveUp(p put, cause error) {
	r := &l.rec
	l.notice(l.id, thread.LevelError, "%s: the answer of turn %d cannot be stored: %v", l.thread().DisplayName(), p.c.Turn, cause)
	spooled := slices.ContainsFunc(r.pending, func(p put) bool { return p.spooled })
	if spooled || r.damaged {
		l.putAside()
	}
	for _, p := range r.pending {
		p.held.end()
		l.promptsLost(p.prompts)
		if p.stored != nil {
			p.stored()
		}
	}
	*r = record{waiting: r.waiting}
	l.setUnsaved(0)
}

// graft sets what is pending upon the newest checkpoint that is there, where the one that it was built on was lost with
// the store; false when that is not what is wrong. What the conversation lacks then comes with the next answer.
func (l *recorder) graft(ctx context.Context) bool {
	r := &l.rec
	if len(r.pending) == 0 || r.pending[0].graft != nil || r.pending[0].c.Parent == "" {
		return false
	}
	if _, err := l.cfg.Store.Checkpoint(ctx, r.pending[0].c.Parent); !errors.Is(err, thread.ErrNotFound) {
		return false
	}
	t, err := l.cfg.Store.Thread(ctx, l.id)
	if err != nil {
		return false
	}
	var on thread.Checkpoint
	var marks []thread.Mark
	if t.Head != "" {
		if on, err = l.cfg.Store.Checkpoint(ctx, t.Head); err != nil {
			return false
		}
		if marks, err = l.cfg.Store.Marks(ctx, t.Head); err != nil {
			marks = nil
		}
	}
	if err := l.rebase(on, marks); err != nil {
		return false // flush gives it up with words
	}
	l.notice(l.id, thread.LevelWarn, "%s: what waited to be stored was based on answers that the database lost; it is stored after turn %d, the newest that is there",
		t.DisplayName(), t.Turn)
	return true
}

// rebase lays the pending checkpoints out so that they stand on another one.
func (l *recorder) rebase(on thread.Checkpoint, marks []thread.Mark) error {
	r := &l.rec
	first := r.pending[0].c
	shift := 0 // of turns: a newer one may stand already
	switch {
	case first.Kind == thread.KindResponse && first.Turn <= on.Turn && (on.Whole() || first.Turn < on.Turn):
		shift = on.Turn + 1 - first.Turn
	case first.Turn < on.Turn:
		shift = on.Turn - first.Turn
	}
	before := 0 // items that the one before had then
	now, parent := on.Items, on.ID
	bare := false
	for i := range r.pending {
		p := &r.pending[i]
		delta, err := l.deltaOf(*p)
		if err != nil {
			return err
		}
		keep := min(delta.Keep, now)
		if i > 0 {
			keep = max(0, min(delta.Keep-before+now, now))
		}
		bare = bare || !fits(marks, delta.Transcript)
		before, now = delta.Keep+len(delta.Items), keep+len(delta.Items)
		p.c.Parent, p.c.Turn, p.c.Items = parent, p.c.Turn+shift, now
		p.graft = &grafted{keep: keep, turn: p.c.Turn, bare: bare}
		parent = p.c.ID
		if bare {
			continue
		}
		marks = grown(marks, delta.Transcript)
	}
	r.head, r.turn = parent, r.pending[len(r.pending)-1].c.Turn
	return nil
}

// recover takes over what the spool keeps of a thread and tries to store it.
func (l *recorder) recover(ctx context.Context, kept thread.Spooled) {
	r := &l.rec
	r.damaged = kept.Unreadable > 0 || kept.Missing > 0
	for _, at := range kept.Places {
		c, d, err := l.cfg.Spool.Read(l.id, at)
		if err != nil {
			r.damaged = true
			break // what follows builds on it
		}
		r.pending = append(r.pending, put{c: c, prompts: d.Prompts, spooled: true, at: at})
	}
	if r.damaged {
		l.notice(l.id, thread.LevelWarn, "%s: of the answers kept while the store refused them, %d of %d can be read; the server may have been cut off while it wrote the last one",
			l.thread().DisplayName(), len(r.pending), len(kept.Places)+max(kept.Missing, int(min(1, kept.Unreadable))))
	}
	n := len(r.pending)
	if n == 0 {
		l.unspool()
		return
	}
	l.flush(ctx)
	if len(r.pending) == 0 {
		l.notice(l.id, thread.LevelInfo, "%s: %s that could not be stored before are stored now", l.thread().DisplayName(),
			plaintext.Count(n, "checkpoint"))
	}
}

// promptsStored takes over prompts that were stored with a checkpoint.
func (l *recorder) promptsStored(ps []thread.Prompt) {
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

// promptsLost ends prompts whose checkpoint can never be stored.
func (l *recorder) promptsLost(ps []thread.Prompt) {
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	for _, p := range ps {
		if p.State.Over() {
			l.put(l.ctx, l.after(p, outbox.Lost, "its answer could not be stored")) //nolint:errcheck // logged; the desk has it
		}
	}
}
