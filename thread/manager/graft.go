package manager

import (
	"context"
	"errors"

	"orchestrator/thread"
)

// grafted says how a spooled checkpoint is stored whose past the store has lost.
type grafted struct {
	keep int // items of what it stands on now
	turn int // that it is
	bare bool
}

// graft sets what is pending upon the newest checkpoint that is there, where the one that it was built on was lost with
// the store; false when that is not what is wrong. What the conversation lacks then comes with the next answer.
func (r *record) graft(ctx context.Context, l *line) bool {
	m := l.m
	if len(r.pending) == 0 || r.pending[0].graft != nil || r.pending[0].c.Parent == "" {
		return false
	}
	if _, err := m.cfg.Store.Checkpoint(ctx, r.pending[0].c.Parent); !errors.Is(err, thread.ErrNotFound) {
		return false
	}
	t, err := m.cfg.Store.Thread(ctx, l.id)
	if err != nil {
		return false
	}
	var on thread.Checkpoint
	var marks []thread.Mark
	if t.Head != "" {
		if on, err = m.cfg.Store.Checkpoint(ctx, t.Head); err != nil {
			return false
		}
		if marks, err = m.cfg.Store.Marks(ctx, t.Head); err != nil {
			marks = nil
		}
	}
	if err := r.set(l, on, marks); err != nil {
		return false // flush gives it up with words
	}
	m.notice(l.id, thread.LevelWarn, "%s: what waited to be stored was based on answers that the database lost; it is stored after turn %d, the newest that is there",
		t.DisplayName(), t.Turn)
	return true
}

// set lays the pending checkpoints out so that they stand on another one.
func (r *record) set(l *line, on thread.Checkpoint, marks []thread.Mark) error {
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
		delta, err := r.deltaOf(l, *p)
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

// fits reports whether chunks go on from what is marked.
func fits(marks []thread.Mark, chunks []thread.Chunk) bool {
	for _, c := range chunks {
		size := int64(0)
		for _, m := range marks {
			if m.File == c.File {
				size = m.Size
			}
		}
		if c.Offset > size {
			return false
		}
		marks = grown(marks, []thread.Chunk{c})
	}
	return true
}

// grown returns the marks after chunks; of their sizes alone, nothing is hashed.
func grown(marks []thread.Mark, chunks []thread.Chunk) []thread.Mark {
	out := append([]thread.Mark(nil), marks...)
next:
	for _, c := range chunks {
		end := c.Offset + int64(len(c.Data))
		for i := range out {
			if out[i].File == c.File {
				out[i].Size = end
				continue next
			}
		}
		out = append(out, thread.Mark{File: c.File, Size: end})
	}
	return out
}

// fit makes a delta what the graft asks for.
func (g *grafted) fit(d thread.Delta) thread.Delta {
	if g == nil {
		return d
	}
	d.Keep = g.keep
	if g.bare {
		d.Transcript = nil
	}
	for i := range d.Prompts {
		if d.Prompts[i].Turn > 0 {
			d.Prompts[i].Turn = g.turn
		}
	}
	return d
}
