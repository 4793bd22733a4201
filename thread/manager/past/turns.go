package past

import (
	"context"
	"errors"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/secret"
)

// Turns reads a page of turns with their responses' usage, in one pass over both.
func (r Reader) Turns(ctx context.Context, head thread.CheckpointID, p thread.Page) ([]thread.Checkpoint, error) {
	limit := p.Limit
	if limit <= 0 {
		limit = 100
	}
	list := make([]thread.Checkpoint, 0, limit)
	for next := head; next != ""; {
		all, err := r.Store.Lineage(ctx, next, thread.Page{Before: p.Before, Limit: 2*limit + 20})
		if err != nil {
			return nil, err
		}
		next = ""
		for _, c := range all {
			next = c.Parent
			if n := len(list); n > 0 && c.Kind == thread.KindTurn && list[n-1].Kind == thread.KindTurn &&
				list[n-1].Turn == c.Turn {
				continue // its agent continued after it by itself
			}
			if n := len(list); n > 0 && list[n-1].Undoes(c) {
				list = list[:n-1]
				continue
			}
			if c.Kind != thread.KindResponse {
				if len(list) == limit {
					return list, nil
				}
				list = append(list, c)
				continue
			}
			if n := len(list); n > 0 && list[n-1].Kind == thread.KindTurn && list[n-1].Turn == c.Turn {
				list[n-1].Usage = list[n-1].Usage.Add(c.Usage)
			}
		}
	}
	return list, nil
}

// Readable returns the newest checkpoint, at or before another one, whose whole conversation can be read, with that;
// the zero one if there is none.
func (r Reader) Readable(ctx context.Context, at thread.CheckpointID) (thread.Checkpoint, []thread.Item, error) {
	list, err := r.Store.Lineage(ctx, at, thread.Page{Limit: 1 << 20})
	if err != nil {
		return thread.Checkpoint{}, nil, fmt.Errorf("read the checkpoints: %w", err)
	}
	for i, c := range list {
		if c.Damaged || i > 0 && !list[i-1].Damaged { // as little of it as of the one after it
			continue
		}
		items, err := r.Store.Conversation(ctx, c.ID)
		if err == nil || !errors.Is(err, thread.ErrDamaged) {
			return c, items, err
		}
	}
	return thread.Checkpoint{}, nil, nil
}

// TurnStart returns the number of items when a checkpoint's turn began.
func (r Reader) TurnStart(ctx context.Context, c thread.Checkpoint) (int, error) {
	before, err := r.Store.Lineage(ctx, c.ID, thread.Page{Turns: true, Before: int64(c.Turn), Limit: 1})
	if err != nil || len(before) == 0 || before[0].Note == thread.NoteRebuilt && c.Note != thread.NoteRebuilt {
		return 0, err // a rebuilt turn has fewer items than the agent's requests
	}
	return before[0].Items, nil
}

// Since returns a thread's own checkpoints that came after another, newest first.
func (r Reader) Since(ctx context.Context, id thread.ID, to thread.Checkpoint) ([]thread.Checkpoint, error) {
	var all []thread.Checkpoint
	page := thread.Page{Limit: 200}
	for {
		list, err := r.Store.Checkpoints(ctx, id, page)
		if err != nil {
			return nil, fmt.Errorf("read the checkpoints: %w", err)
		}
		for _, c := range list {
			if !c.Created.After(to.Created) { // Seq counts within one conversation only
				return all, nil
			}
			all = append(all, c)
		}
		if len(list) < page.Limit {
			return all, nil
		}
		page.Before = list[len(list)-1].Seq
	}
}

// LastAnswer returns the last answer of a thread itself, "" if it has none. Answers that a rewind undid do not count.
func (r Reader) LastAnswer(ctx context.Context, t thread.Thread) string {
	if t.Head == "" {
		return ""
	}
	stands, err := r.Store.Lineage(ctx, t.Head, thread.Page{Limit: 20})
	if err != nil {
		r.Log.Warn("read the last answer", "thread", string(t.ID), "err", err)
	}
	for _, c := range stands {
		if c.Thread == t.ID && c.Answer != "" && (c.Kind == thread.KindTurn || c.Kind == thread.KindResponse) {
			return secret.Redact(c.Answer)
		}
	}
	return ""
}

// FinalAnswer returns the answer that ends the conversation of a whole turn, by our own record; "" if it ends otherwise
// or cannot be read.
func (r Reader) FinalAnswer(ctx context.Context, at thread.CheckpointID) string {
	c, err := r.Store.Checkpoint(ctx, at)
	if err != nil || !c.Whole() || c.Interrupted {
		return ""
	}
	items, err := r.Store.Conversation(ctx, at)
	if err != nil {
		return ""
	}
	entries := r.Entries(items)
	if n := len(entries); n > 0 && entries[n-1].Kind == thread.EntryAnswer {
		return entries[n-1].Text
	}
	return ""
}
