package pack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"orchestrator/thread"
)

// Table is the table in which a store keeps its rows.
type Table interface {
	Source
	// Row returns a checkpoint's row with its data; thread.ErrNotFound if it does not exist.
	Row(ctx context.Context, id thread.CheckpointID) (Row, error)
}

// Reader reads single checkpoints from a table: the methods of thread.Store that take a checkpoint's id.
type Reader struct {
	packer *Packer
	table  Table
}

// Reader returns a Reader of a table that this Packer packs for.
func (p *Packer) Reader(t Table) *Reader { return &Reader{packer: p, table: t} }

// Checkpoint returns one checkpoint.
func (r *Reader) Checkpoint(ctx context.Context, id thread.CheckpointID) (thread.Checkpoint, error) {
	row, err := r.table.Row(ctx, id)
	if err != nil {
		return thread.Checkpoint{}, err
	}
	return r.packer.checkpoint(ctx, r.table, row)
}

// Conversation returns the items up to a checkpoint, oldest first.
func (r *Reader) Conversation(ctx context.Context, id thread.CheckpointID) ([]thread.Item, error) {
	row, err := r.table.Row(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.packer.Conversation(ctx, r.table, row.N, row.Items)
}

// Transcript returns the native files as they were at a checkpoint.
func (r *Reader) Transcript(ctx context.Context, id thread.CheckpointID) ([]thread.TranscriptFile, error) {
	row, err := r.table.Row(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.packer.Transcript(ctx, r.table, row)
}

// Marks returns the same files' sizes and hashes.
func (r *Reader) Marks(ctx context.Context, id thread.CheckpointID) ([]thread.Mark, error) {
	row, err := r.table.Row(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.packer.Marks(ctx, r.table, row)
}

// Delta returns what a checkpoint added to its parent.
func (r *Reader) Delta(ctx context.Context, id thread.CheckpointID) (thread.Delta, error) {
	row, err := r.table.Row(ctx, id)
	if err != nil {
		return thread.Delta{}, err
	}
	return r.packer.Delta(ctx, r.table, row)
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

// why returns why a row cannot be read.
func (p *Packer) why(ctx context.Context, src Source, row Row) error {
	if _, err := p.Verify(ctx, src, row); errors.Is(err, thread.ErrDamaged) {
		return err
	}
	return fmt.Errorf("checkpoint %s: %w", row.ID, thread.ErrDamaged)
}

// Unreadable returns the checkpoints that could not be read so far.
func (r *Reader) Unreadable() []thread.Checkpoint {
	b := &r.packer.broken
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Values(b.rows))
}
