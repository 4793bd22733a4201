package pack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"orchestrator/thread"
)

// broken are the checkpoints that could not be read.
type broken struct {
	mu   sync.Mutex
	rows map[thread.CheckpointID]thread.Checkpoint
}

// note returns false if it was noted before.
func (b *broken) note(c thread.Checkpoint) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, known := b.rows[c.ID]
	b.rows[c.ID] = c
	return !known
}

// Unreadable returns the checkpoints that could not be read so far.
func (r *Reader) Unreadable() []thread.Checkpoint {
	b := &r.packer.broken
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Values(b.rows))
}

// unreadable returns what a row tells of a checkpoint whose record cannot be read, and takes note of it. From then on
// no record joins a group that was open before: a group is unpacked from its first byte, and what followed the damage
// in it could not be read either.
func (p *Packer) unreadable(ctx context.Context, src Source, row Row) (thread.Checkpoint, error) {
	c := thread.Checkpoint{ID: row.ID, Seq: row.Seq, Turn: row.Turn, Kind: row.Kind, Items: row.Items, Damaged: true}
	if row.Parent != 0 {
		up, err := src.Lineage(ctx, row.Parent, 1)
		if err != nil && !errors.Is(err, thread.ErrNotFound) {
			return c, err
		}
		if len(up) > 0 {
			c.Parent = up[0].ID
		}
	}
	if known, ok := src.(Owners); ok {
		var err error
		if c.Thread, err = known.Owner(ctx, row.Thread); err != nil && !errors.Is(err, thread.ErrNotFound) {
			return c, err
		}
	}
	if p.broken.note(c) {
		p.frames.end()
		p.cache.clear()
	}
	return c, nil
}

// checkpoint unpacks one row; thread.ErrDamaged if that is not possible.
func (p *Packer) checkpoint(ctx context.Context, src Source, row Row) (thread.Checkpoint, error) {
	cs, err := p.Checkpoints(ctx, src, []Row{row})
	if err == nil && cs[0].Damaged {
		err = p.why(ctx, src, row)
	}
	if err != nil {
		return thread.Checkpoint{}, err
	}
	return cs[0], nil
}

// why says why a row cannot be read.
func (p *Packer) why(ctx context.Context, src Source, row Row) error {
	if _, err := p.Verify(ctx, src, row); errors.Is(err, thread.ErrDamaged) {
		return err
	}
	return fmt.Errorf("checkpoint %s: %w", row.ID, thread.ErrDamaged)
}

// unknown returns the state of a parent whose record cannot be read: how many items it had, and nothing of its files.
func (p *Packer) unknown(ctx context.Context, src Source, n int64) (*state, error) {
	rows, err := src.Lineage(ctx, n, 1)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("checkpoint row %d: %w", n, thread.ErrNotFound)
	}
	if _, err := p.unreadable(ctx, src, rows[0]); err != nil {
		return nil, err
	}
	return &state{items: max(0, rows[0].Items), files: map[string]fileState{}, lost: true}, nil
}
