package archive

import (
	"context"
	"errors"

	"orchestrator/checkpoint"
	"orchestrator/thread"
)

// Sound reads checkpoints, parents first, so that they can be stored elsewhere without those that cannot be read. What
// followed those stays: with its whole conversation if that can be read, and else with what is left of it.
type Sound struct {
	From interface {
		thread.Checkpoints
		checkpoint.Deltas
	}
	// Lost are the checkpoints that were left out.
	Lost []thread.Checkpoint

	at map[thread.CheckpointID]copied
}

// copied is what has become of a checkpoint.
type copied struct {
	id         thread.CheckpointID // of itself, or of the ancestor that stands for it; "" for none
	items, was int                 // of its conversation, there and in the source
	items1to1  bool                // it has the same items
	files1to1  bool                // it has the same files
}

// Read returns a checkpoint with what it adds to its parent in the copy; false if it is left out.
func (s *Sound) Read(ctx context.Context, c thread.Checkpoint) (thread.Checkpoint, thread.Delta, bool, error) {
	if s.at == nil {
		s.at = map[thread.CheckpointID]copied{"": {items1to1: true, files1to1: true}}
	}
	on := s.at[c.Parent] // nothing if it is missing
	now := copied{id: c.ID, items: c.Items, was: c.Items, items1to1: true, files1to1: true}
	lose := func() (thread.Checkpoint, thread.Delta, bool, error) {
		s.at[c.ID] = copied{id: on.id, items: on.items, was: c.Items}
		s.Lost = append(s.Lost, c)
		return c, thread.Delta{}, false, nil
	}
	if c.Damaged {
		return lose()
	}
	c.Parent = on.id
	d, err := s.From.Delta(ctx, c.ID)
	bad := errors.Is(err, thread.ErrDamaged)
	if err != nil && !bad {
		return c, d, false, err
	}
	if bad || !on.items1to1 {
		items, err := s.From.Conversation(ctx, c.ID)
		switch {
		case err == nil:
			d.Keep, d.Items = 0, items
		case !errors.Is(err, thread.ErrDamaged):
			return c, d, false, err
		case bad:
			return lose()
		default:
			d.Keep = max(0, min(d.Keep-on.was+on.items, on.items))
			now.items1to1, now.items = false, d.Keep+len(d.Items)
		}
	}
	if bad || !on.files1to1 {
		files, err := s.From.Transcript(ctx, c.ID)
		if err != nil && !errors.Is(err, thread.ErrDamaged) {
			return c, d, false, err
		}
		d.Transcript, now.files1to1 = nil, err == nil
		for _, f := range files {
			d.Transcript = append(d.Transcript, thread.Chunk{File: f.File, Data: f.Data})
		}
	}
	c.Items = now.items
	s.at[c.ID] = now
	return c, d, true, nil
}
