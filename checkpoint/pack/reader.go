package pack

import (
	"context"

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
