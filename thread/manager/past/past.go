// Package past reads what is stored about threads: conversations, turns, the points that people name, and files.
package past

import (
	"context"
	"log/slog"

	"orchestrator/thread"
)

// Reader reads what is stored about threads. It is safe for concurrent use.
type Reader struct {
	Store  Store
	Codec  thread.Reader // reads the items that are not our own; may be nil
	Differ thread.Differ // may be nil
	Log    *slog.Logger
}

// Store is what a Reader needs of the store.
type Store interface {
	Checkpoint(context.Context, thread.CheckpointID) (thread.Checkpoint, error)
	Checkpoints(context.Context, thread.ID, thread.Page) ([]thread.Checkpoint, error)
	Lineage(context.Context, thread.CheckpointID, thread.Page) ([]thread.Checkpoint, error)
	Conversation(context.Context, thread.CheckpointID) ([]thread.Item, error)
}

// Entries reads a conversation: our own items here, all others by the configured reader.
func (r Reader) Entries(items []thread.Item) []thread.Entry {
	var out []thread.Entry
	for len(items) > 0 {
		n := 1
		plain := items[0].Wire == thread.WirePlain
		for n < len(items) && (items[n].Wire == thread.WirePlain) == plain {
			n++
		}
		switch {
		case plain:
			out = append(out, thread.PlainEntries(items[:n])...)
		case r.Codec != nil:
			out = append(out, r.Codec.Entries(items[:n])...)
		}
		items = items[n:]
	}
	return out
}
