package past

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// Point resolves a thread's "at": "" is the newest whole turn, a number is that turn, and anything else is a
// checkpoint's id or a prefix of it in the thread's lineage.
func (r Reader) Point(ctx context.Context, t thread.Thread, at string) (thread.Checkpoint, error) {
	if t.Head == "" {
		if at == "" {
			return thread.Checkpoint{}, nil
		}
		return thread.Checkpoint{}, fmt.Errorf("point %q of %s: no turns yet: %w", at, t.Name, thread.ErrNotFound)
	}
	find := r.checkpointPoint
	if at == "" {
		find = r.newestWhole
	} else if n, err := strconv.Atoi(at); err == nil && len(at) < 8 { // longer ones are ids without a letter
		find = func(ctx context.Context, t thread.Thread, _ string) (thread.Checkpoint, error) {
			return r.turnPoint(ctx, t, n)
		}
	}
	c, err := find(ctx, t, at)
	if err == nil && c.Damaged {
		return c, thread.Hint(fmt.Errorf("turn %d of %s cannot be read: %w", c.Turn, t.Name, thread.ErrDamaged),
			"choose another one; `orchestrator checkpoint list "+t.Name+"` marks those that cannot be read")
	}
	return c, err
}

// newestWhole returns the newest checkpoint that ends a turn.
func (r Reader) newestWhole(ctx context.Context, t thread.Thread, _ string) (thread.Checkpoint, error) {
	head, err := r.Store.Lineage(ctx, t.Head, thread.Page{Limit: 1})
	if err != nil {
		return thread.Checkpoint{}, fmt.Errorf("read the newest checkpoint of %s: %w", t.Name, err)
	}
	if len(head) > 0 && (head[0].Damaged || head[0].Whole()) {
		return head[0], nil
	}
	list, err := r.Store.Lineage(ctx, t.Head, thread.Page{Turns: true, Limit: 1})
	if err != nil {
		return thread.Checkpoint{}, fmt.Errorf("read the turns of %s: %w", t.Name, err)
	}
	if len(list) == 0 {
		return thread.Checkpoint{}, thread.Hint(
			fmt.Errorf("%s is in the middle of its first turn: %w", t.Name, thread.ErrBusy), "wait until it has answered")
	}
	return list[0], nil
}

// turnPoint returns the checkpoint that ended a turn.
func (r Reader) turnPoint(ctx context.Context, t thread.Thread, turn int) (thread.Checkpoint, error) {
	// The newest one at or before the turn is nearly always the one that ended it; others of the same turn are rewinds to
	// it and safety checkpoints.
	for limit := 1; ; limit = 50 {
		list, err := r.Store.Lineage(ctx, t.Head, thread.Page{Turns: true, Before: int64(turn) + 1, Limit: limit})
		if err != nil {
			return thread.Checkpoint{}, fmt.Errorf("read the turns of %s: %w", t.Name, err)
		}
		var found thread.Checkpoint
		for _, c := range list {
			if c.Turn == turn && (found.ID == "" || c.Kind == thread.KindTurn && found.Kind != thread.KindTurn) {
				found = c
			}
		}
		switch {
		case found.ID != "" && (found.Kind == thread.KindTurn || limit > 1):
			return found, nil
		case found.ID == "":
			return thread.Checkpoint{}, thread.Hint(fmt.Errorf("turn %d of %s: %w", turn, t.Name, thread.ErrNotFound),
				"it has "+plaintext.Count(t.Turn, "turn"))
		}
	}
}

// checkpointPoint returns the checkpoint with an id or a unique prefix of one, among those of the thread's lineage and
// its own. Checkpoints of other threads are not found: they are not its past. The response that ended a turn stands for
// the turn, which has its files.
func (r Reader) checkpointPoint(ctx context.Context, t thread.Thread, at string) (thread.Checkpoint, error) {
	if len(at) < 4 {
		return thread.Checkpoint{}, thread.Hint(fmt.Errorf("point %q of %s: %w", at, t.Name, thread.ErrInvalid),
			"give the number of a turn or at least 4 digits of a checkpoint")
	}
	all := thread.Page{Limit: 1 << 20}
	list, err := r.Store.Lineage(ctx, t.Head, all)
	if err != nil {
		return thread.Checkpoint{}, fmt.Errorf("read the checkpoints of %s: %w", t.Name, err)
	}
	own, err := r.Store.Checkpoints(ctx, t.ID, all) // including those that a rewind undid
	if err != nil {
		return thread.Checkpoint{}, fmt.Errorf("read the checkpoints of %s: %w", t.Name, err)
	}
	found := make(map[thread.CheckpointID]thread.Checkpoint)
	for _, c := range append(list, own...) {
		if strings.HasPrefix(string(c.ID), strings.ToLower(at)) {
			found[c.ID] = c
		}
	}
	switch len(found) {
	case 0:
		return thread.Checkpoint{}, thread.Hint(fmt.Errorf("point %q of %s: %w", at, t.Name, thread.ErrNotFound),
			"`orchestrator checkpoint list "+t.Name+"` lists them")
	case 1:
		for _, c := range found {
			return ended(c, append(list, own...)), nil
		}
	}
	return thread.Checkpoint{}, thread.Hint(fmt.Errorf("point %q of %s is ambiguous, it matches %d checkpoints: %w",
		at, t.Name, len(found), thread.ErrInvalid), "give more digits")
}

// ended returns the checkpoint of the turn that a response ended, if it is among all, and otherwise the response.
func ended(c thread.Checkpoint, all []thread.Checkpoint) thread.Checkpoint {
	for _, turn := range all {
		if c.Note == thread.NoteTurnEnded && turn.Kind == thread.KindTurn && turn.Parent == c.ID {
			return turn
		}
	}
	return c
}
