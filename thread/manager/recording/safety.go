package recording

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread"
)

// Stand takes a thread's folder as it is: if its files are not those of the newest snapshot, a safety checkpoint has
// them, and the next turn is compared with that.
func (r *Recorder) Stand(ctx context.Context, note string) error {
	r.Load(ctx)
	if r.cfg.Files == nil || r.head == "" {
		return nil
	}
	s, err := r.cfg.Files.Take(ctx, r.id, r.live.Thread().Dir, r.snapshot)
	if errors.Is(err, thread.ErrNoRepository) || err == nil && r.snapshot != nil && s.Tree == r.snapshot.Tree {
		return nil
	}
	if err != nil {
		return fmt.Errorf("take a snapshot: %w", err)
	}
	_, err = r.Safety(ctx, note, true)
	return err
}

// Safety writes a checkpoint of the thread's current state, including its files, and waits until it is durable. With
// files set, failing to keep them is an error.
func (r *Recorder) Safety(ctx context.Context, note string, files bool) (thread.Checkpoint, error) {
	r.Load(ctx)
	t := r.live.Thread()
	c := thread.Checkpoint{
		ID: thread.NewID[thread.CheckpointID](), Thread: r.id, Parent: r.head, Turn: r.turn, Kind: thread.KindSafety,
		Created: r.now(), Gauge: t.Gauge, Session: r.session, Items: len(r.hashes), First: r.first,
		MCP: r.cfg.MCPs(r.id), Base: t.Base.Recorded(), Note: note, Snapshot: r.snapshot,
	}
	if r.cfg.Files != nil {
		s, err := r.cfg.Files.Take(ctx, r.id, t.Dir, r.snapshot)
		switch {
		case err == nil:
			c.Snapshot, r.snapshot = &s, &s
		case files:
			return c, fmt.Errorf("take a snapshot first: %w", err)
		case !errors.Is(err, thread.ErrNoRepository):
			r.notice(thread.LevelWarn, "%s: no snapshot taken: %v", t.DisplayName(), err)
		}
	}
	delta := thread.Delta{Keep: len(r.hashes), Transcript: r.note(r.peek(ctx, "", time.Time{}))}
	phase := r.phase
	r.head = c.ID
	r.commit(ctx, put{c: c, delta: delta})
	r.phase = phase // it is where it was
	if len(r.pending) > 0 {
		return c, fmt.Errorf("store the safety checkpoint: %s: %w", r.trouble, thread.ErrReadOnly)
	}
	return c, nil
}
