package sqlrow

import (
	"context"
	"fmt"

	"orchestrator/checkpoint"
	"orchestrator/checkpoint/pack"
	"orchestrator/thread"
)

// Table is a database table that checkpoints are put into.
type Table interface {
	pack.Table
	// Find looks up whether a checkpoint is already stored, and its parent's row; 0 is none. See Pair.
	Find(ctx context.Context, c thread.Checkpoint) (there bool, parent int64, err error)
	// Insert writes a packed checkpoint, its thread and its prompts in one transaction, and returns the row and the
	// checkpoint's number in its thread; a row of 0 means that the checkpoint is already stored.
	Insert(ctx context.Context, k *pack.Packed, c thread.Checkpoint, prompts []thread.Prompt) (row, seq int64, err error)
}

// Put stores a checkpoint and moves its thread; one that is already stored is returned as it is. It is packed before
// the transaction begins, so that the transaction is short.
func Put(ctx context.Context, p *pack.Packer, t Table, c thread.Checkpoint, d thread.Delta) (thread.Checkpoint, error) {
	if err := checkpoint.Check(c, d); err != nil {
		return thread.Checkpoint{}, err
	}
	parent, known := p.Known(c.Parent)
	if !known {
		there, found, err := t.Find(ctx, c)
		if err != nil {
			return thread.Checkpoint{}, err
		}
		if there {
			return again(ctx, p, t, c)
		}
		parent = found
	}
	k, err := p.Pack(ctx, t, parent, c, d)
	if err != nil {
		return thread.Checkpoint{}, err
	}
	var durable int64 // the new row, once it is
	defer func() { p.Done(k, durable) }()
	c = checkpoint.Normal(c)
	c.Items = k.Row.Items
	row, seq, err := t.Insert(ctx, k, c, d.Prompts)
	if err != nil {
		return thread.Checkpoint{}, err
	}
	if row == 0 { // the same checkpoint was put before or at the same time
		return again(ctx, p, t, c)
	}
	durable, c.Seq = row, seq
	return c, nil
}

// again returns a checkpoint that is already stored.
func again(ctx context.Context, p *pack.Packer, t Table, c thread.Checkpoint) (thread.Checkpoint, error) {
	old, err := p.Reader(t).Checkpoint(ctx, c.ID)
	if err != nil {
		return thread.Checkpoint{}, err
	}
	if err := checkpoint.CheckStored(old, c); err != nil {
		return thread.Checkpoint{}, err
	}
	return old, nil
}

// Pair is what Find finds out about a checkpoint and its parent.
type Pair struct {
	There  bool
	Parent int64 // its row, 0 for none
}

// Add takes the id and the row of one of the two.
func (p *Pair) Add(c thread.Checkpoint, id thread.CheckpointID, n int64) {
	if id == c.ID {
		p.There = true
	} else {
		p.Parent = n
	}
}

// Check returns an error if neither the parent nor the checkpoint is stored.
func (p *Pair) Check(c thread.Checkpoint) error {
	if !p.There && p.Parent == 0 && c.Parent != "" {
		return fmt.Errorf("parent checkpoint %s: %w", c.Parent, thread.ErrNotFound)
	}
	return nil
}
