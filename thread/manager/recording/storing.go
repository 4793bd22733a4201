package recording

import (
	"context"
	"errors"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// The delays between retries while the store refuses checkpoints.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 2 * time.Second
)

// commit queues a checkpoint after the pending ones and tries to store them all.
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

// Flush stores what is pending, in order. What the store refuses for a while is retried until it works or the thread is
// gone. What it refuses for good stays in the spool for the next start, which may have repaired the store. Nothing is
// dropped silently.
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
		if lasts(err) {
			r.leave(ctx, err)
			return
		}
		if err != nil {
			r.refused(p, err)
			return
		}
		r.pending[0] = put{} // release the memory it refers to
		r.pending = r.pending[1:]
		p.held.End()
		if len(r.pending) == 0 {
			r.unspool()
		}
		r.accepted(ctx, p, c)
	}
}

// lasts reports whether an error of the store stays as it is however often the put is repeated. A full disk, a store
// that is away, locked or read-only passes, and so may what is not known.
func lasts(err error) bool {
	return errors.Is(err, thread.ErrDamaged) || errors.Is(err, thread.ErrUnsupported)
}

// leave keeps what is pending in the spool and goes on without it. If that is not possible it is retried after all.
func (r *Recorder) leave(ctx context.Context, cause error) {
	r.spool()
	if slices.ContainsFunc(r.pending, func(p put) bool { return !p.spooled }) {
		r.refused(r.pending[0], cause)
		return
	}
	r.notice(thread.LevelError, "%s: the answer of turn %d cannot be stored: %v. It is kept and stored at the next start, "+
		"if that can repair the store: `orchestrator restart`", r.name(), r.pending[0].c.Turn, cause)
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

// accepted publishes what is now durable.
func (r *Recorder) accepted(ctx context.Context, p put, c thread.Checkpoint) {
	over := r.trouble != "" && len(r.pending) == 0
	if over {
		r.trouble = ""
	}
	r.wait = 0
	r.reports.Stored(ctx, Stored{Checkpoint: c, SideCost: p.cost, Over: over})
	r.prompts.Stored(p.prompts)
	if over {
		r.notice(thread.LevelInfo, "%s: all answers are stored now", r.name())
	}
	if p.answered != nil {
		r.reports.Answered(ctx, *p.answered)
	}
}

// refused records that the store refused a checkpoint and schedules a retry.
func (r *Recorder) refused(p put, err error) {
	first := r.trouble == ""
	r.trouble = err.Error()
	r.reports.Refused(r.trouble)
	r.spool()
	if first {
		r.notice(thread.LevelError,
			"%s: the answer of turn %d is not stored yet: %v. The agent keeps running, and storing is retried until it works",
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

// lighten reduces the oldest pending checkpoint to one that the store may accept after a permanent refusal, for
// instance as too large: first without the transcript, which is read again later, and then not at all. What it leaves
// out comes with the next answer, which brings the whole conversation.
func (r *Recorder) lighten(ctx context.Context, cause error) {
	p := &r.pending[0]
	if len(p.delta.Transcript) > 0 {
		r.notice(thread.LevelError, "%s: the transcript of turn %d cannot be stored: %v",
			r.name(), p.c.Turn, cause)
		p.delta.Transcript, p.spooled = nil, false
		r.files = r.files.forgotten()
		return
	}
	r.giveUp(ctx, *p, cause)
}

// giveUp drops pending checkpoints that can never be stored. The next answer brings the conversation again.
func (r *Recorder) giveUp(ctx context.Context, p put, cause error) {
	r.notice(thread.LevelError, "%s: the answer of turn %d cannot be stored: %v", r.name(), p.c.Turn, cause)
	spooled := slices.ContainsFunc(r.pending, func(p put) bool { return p.spooled })
	if spooled || r.damaged {
		r.setAside()
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

// graft moves what is pending onto the newest existing checkpoint if the one it was based on was lost with the store;
// false if that is not the problem. What the conversation lacks then comes with the next answer.
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
		return false // flush gives it up with a notice
	}
	r.notice(thread.LevelWarn,
		"%s: pending answers were based on turns that the database lost; they are stored after turn %d, the newest one left",
		t.DisplayName(), t.Turn)
	return true
}

// rebase moves the pending checkpoints onto another one.
func (r *Recorder) rebase(on thread.Checkpoint, marks []thread.Mark) error {
	first := r.pending[0].c
	shift := 0 // of turns: a newer one may exist already
	switch {
	case first.Kind == thread.KindResponse && first.Turn <= on.Turn && (on.Whole() || first.Turn < on.Turn):
		shift = on.Turn + 1 - first.Turn
	case first.Turn < on.Turn:
		shift = on.Turn - first.Turn
	}
	before := 0 // items of the previous one before
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
		if p.c.First > 0 {
			p.c.First = max(0, p.c.First+keep-delta.Keep)
		}
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

// Recover takes over the spooled checkpoints of a thread and tries to store them.
func (r *Recorder) Recover(ctx context.Context, kept thread.Spooled) {
	r.damaged = kept.Unreadable > 0 || kept.Missing > 0
	for _, at := range kept.Places {
		c, d, err := r.cfg.Spool.Read(r.id, at)
		if err != nil {
			r.damaged = true
			break // the following ones depend on it
		}
		r.pending = append(r.pending, put{c: c, prompts: d.Prompts, spooled: true, at: at})
	}
	if r.damaged {
		r.notice(thread.LevelWarn, "%s: %d of %d answers that were kept while the store refused them can be read; "+
			"the server may have been killed while it wrote the last one",
			r.name(), len(r.pending), len(kept.Places)+max(kept.Missing, int(min(1, kept.Unreadable))))
	}
	n := len(r.pending)
	if n == 0 {
		r.unspool()
		return
	}
	r.Flush(ctx)
	if len(r.pending) == 0 {
		r.notice(thread.LevelInfo, "%s: %s from the spool stored", r.name(), plaintext.Count(n, "checkpoint"))
	}
}
