package recording

import (
	"context"
	"errors"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// The waits between tries while the store refuses.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 2 * time.Second
)

// commit queues a checkpoint behind those that wait and tries to store them all.
func (r *Recorder) commit(ctx context.Context, p put) {
	r.pending = append(r.pending, p)
	if len(r.pending) == 1 || !r.waiting {
		r.Flush(ctx)
	} else {
		r.spool()
	}
	for i := range r.pending {
		r.pending[i].shrink()
	}
}

// Flush stores what is pending, in order. What the store refuses is tried again until it works or
// the thread is gone; it is never dropped silently.
func (r *Recorder) Flush(ctx context.Context) {
	for len(r.pending) > 0 {
		p := r.pending[0]
		delta, err := r.deltaOf(p)
		if err != nil {
			r.giveUp(ctx, p, err)
			return
		}
		c, err := r.cfg.Store.PutCheckpoint(ctx, p.c, delta)
		if errors.Is(err, thread.ErrNotFound) && r.live.Gone() {
			for _, p := range r.pending {
				p.held.End()
			}
			r.pending = nil
			r.unspool()
			return
		}
		if errors.Is(err, thread.ErrNotFound) {
			if !r.graft(ctx) {
				r.giveUp(ctx, p, err)
			}
			continue
		}
		if errors.Is(err, thread.ErrInvalid) {
			r.pending[0].delta = delta
			r.lighten(ctx, err)
			continue
		}
		if err != nil {
			r.refused(p, err)
			return
		}
		r.pending[0] = put{} // what it holds is free for others
		r.pending = r.pending[1:]
		p.held.End()
		if len(r.pending) == 0 {
			r.unspool()
		}
		r.accepted(ctx, p, c)
	}
}

// accepted tells what is durable now.
func (r *Recorder) accepted(ctx context.Context, p put, c thread.Checkpoint) {
	over := r.trouble != "" && len(r.pending) == 0
	if over {
		r.trouble = ""
	}
	r.wait = 0
	r.reports.Stored(ctx, Stored{Checkpoint: c, SideCost: p.cost, Over: over})
	r.prompts.Stored(p.prompts)
	if over {
		r.notice(thread.LevelInfo, "%s: all answers are stored again", r.name())
	}
	if p.answered != nil {
		r.reports.Answered(ctx, *p.answered)
	}
}

// refused notes that the store does not take a checkpoint and plans the next try.
func (r *Recorder) refused(p put, err error) {
	first := r.trouble == ""
	r.trouble = err.Error()
	r.reports.Refused(r.trouble)
	r.spool()
	if first {
		r.notice(thread.LevelError,
			"%s: the answer of turn %d is not stored yet: %v. The agent goes on, and storing is tried again until it works",
			r.name(), p.c.Turn, err)
	}
	r.wait = min(max(2*r.wait, firstRetry), lastRetry)
	if r.waiting {
		return
	}
	r.waiting = true
	r.live.Later(r.wait, func(ctx context.Context) {
		r.waiting = false
		r.Flush(ctx)
	})
}

// lighten makes the oldest pending checkpoint one that the store may take after it was refused for
// good, for instance as too large: first without the transcript, which is read again later, and then
// not at all. What it leaves out comes with the next answer, which brings the whole conversation.
func (r *Recorder) lighten(ctx context.Context, cause error) {
	p := &r.pending[0]
	if len(p.delta.Transcript) > 0 {
		r.notice(thread.LevelError, "%s: the transcript of turn %d cannot be stored: %v", r.name(), p.c.Turn, cause)
		p.delta.Transcript, p.spooled = nil, false
		r.files = transcript{}
		return
	}
	r.giveUp(ctx, *p, cause)
}

// giveUp ends the storing of what is pending: it can never be. The next answer brings the conversation again.
func (r *Recorder) giveUp(ctx context.Context, p put, cause error) {
	r.notice(thread.LevelError, "%s: the answer of turn %d cannot be stored: %v", r.name(), p.c.Turn, cause)
	spooled := slices.ContainsFunc(r.pending, func(p put) bool { return p.spooled })
	if spooled || r.damaged {
		r.putAside()
	}
	for _, p := range r.pending {
		p.held.End()
		r.prompts.Lost(p.prompts)
		if p.answered != nil {
			r.reports.Answered(ctx, *p.answered)
		}
	}
	r.Forget()
	r.tellWaiting()
}

// graft sets what is pending upon the newest checkpoint that is there, where the one that it was built on was lost with
// the store; false when that is not what is wrong. What the conversation lacks then comes with the next answer.
func (r *Recorder) graft(ctx context.Context) bool {
	if len(r.pending) == 0 || r.pending[0].graft != nil || r.pending[0].c.Parent == "" {
		return false
	}
	if _, err := r.cfg.Store.Checkpoint(ctx, r.pending[0].c.Parent); !errors.Is(err, thread.ErrNotFound) {
		return false
	}
	t, err := r.cfg.Store.Thread(ctx, r.id)
	if err != nil {
		return false
	}
	var on thread.Checkpoint
	var marks []thread.Mark
	if t.Head != "" {
		if on, err = r.cfg.Store.Checkpoint(ctx, t.Head); err != nil {
			return false
		}
		if marks, err = r.cfg.Store.Marks(ctx, t.Head); err != nil {
			marks = nil
		}
	}
	if err := r.rebase(on, marks); err != nil {
		return false // flush gives it up with words
	}
	r.notice(thread.LevelWarn, "%s: what waited to be stored was based on answers that the database lost; "+
		"it is stored after turn %d, the newest that is there", t.DisplayName(), t.Turn)
	return true
}

// rebase lays the pending checkpoints out so that they stand on another one.
func (r *Recorder) rebase(on thread.Checkpoint, marks []thread.Mark) error {
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
		delta, err := r.deltaOf(*p)
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

// Recover takes over what the spool keeps of a thread and tries to store it.
func (r *Recorder) Recover(ctx context.Context, kept thread.Spooled) {
	r.damaged = kept.Unreadable > 0 || kept.Missing > 0
	for _, at := range kept.Places {
		c, d, err := r.cfg.Spool.Read(r.id, at)
		if err != nil {
			r.damaged = true
			break // what follows builds on it
		}
		r.pending = append(r.pending, put{c: c, prompts: d.Prompts, spooled: true, at: at})
	}
	if r.damaged {
		r.notice(thread.LevelWarn, "%s: of the answers kept while the store refused them, %d of %d can be read; "+
			"the server may have been cut off while it wrote the last one",
			r.name(), len(r.pending), len(kept.Places)+max(kept.Missing, int(min(1, kept.Unreadable))))
	}
	n := len(r.pending)
	if n == 0 {
		r.unspool()
		return
	}
	r.Flush(ctx)
	if len(r.pending) == 0 {
		r.notice(thread.LevelInfo, "%s: %s that could not be stored before are stored now", r.name(),
			plaintext.Count(n, "checkpoint"))
	}
}
