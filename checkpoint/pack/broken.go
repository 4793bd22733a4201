package pack

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"orchestrator/thread"
)

// broken are the rows that could not be read.
type broken struct {
	mu   sync.Mutex
	rows map[thread.CheckpointID]bool
}

// note returns false if it was noted before.
func (b *broken) note(id thread.CheckpointID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rows[id] {
		return false
	}
	b.rows[id] = true
	return true
}

// damaged takes note of a row that cannot be read. From then on no record joins a group that was open before: a group
// is unpacked from its first byte, and what followed the damage in it could not be read either.
func (p *Packer) damaged(id thread.CheckpointID) {
	if p.broken.note(id) {
		p.frames.end()
		p.cache.clear()
	}
}

// unreadable returns what a row tells of a checkpoint whose record cannot be read.
func (p *Packer) unreadable(ctx context.Context, src Source, row Row) (thread.Checkpoint, error) {
	p.damaged(row.ID)
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
	return c, nil
}

// checkpoint unpacks one row; thread.ErrDamaged if that is not possible.
func (p *Packer) checkpoint(ctx context.Context, src Source, row Row) (thread.Checkpoint, error) {
	members := []Row{row}
	if row.Chain > 0 {
		var err error
		if members, err = src.Lineage(ctx, row.N, row.Chain+1); err != nil {
			return thread.Checkpoint{}, err
		}
	}
	if row.Chain < 0 || row.Chain >= len(members) {
		p.damaged(row.ID)
		return thread.Checkpoint{}, errNoBeginning(row)
	}
	group, err := p.group(members, func(r Row) bool { return r.N == row.N })
	if err != nil {
		if errors.Is(err, thread.ErrDamaged) {
			p.damaged(row.ID)
		}
		return thread.Checkpoint{}, err
	}
	return group[row.Chain].head.Checkpoint, nil
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
	p.damaged(rows[0].ID)
	return &state{items: max(0, rows[0].Items), files: map[string]fileState{}, lost: true}, nil
}
