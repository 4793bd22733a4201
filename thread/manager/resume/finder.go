// Package resume finds how an agent gets a thread's conversation back: in its own session, in one that is written anew
// from what is stored, or by a summary; and it writes such a session.
package resume

import (
	"context"
	"log/slog"

	"orchestrator/thread"
	"orchestrator/thread/manager/past"
)

// Finder finds ways back into threads' conversations.
type Finder struct {
	Store    Store
	Past     past.Reader // reads what is stored
	Threads  Threads
	Env      func(thread.Thread) []string // that a thread's agent starts from
	StateDir func(thread.ID) string       // for a thread's own files
	Log      *slog.Logger
}

// Store is what a Finder reads of the store; see thread.Store.
type Store interface {
	Checkpoint(context.Context, thread.CheckpointID) (thread.Checkpoint, error)
	Lineage(context.Context, thread.CheckpointID, thread.Page) ([]thread.Checkpoint, error)
	Transcript(context.Context, thread.CheckpointID) ([]thread.TranscriptFile, error)
	Marks(context.Context, thread.CheckpointID) ([]thread.Mark, error)
}

// Threads knows all threads as they are right now.
type Threads interface {
	// Thread returns one, false when there is none.
	Thread(thread.ID) (thread.Thread, bool)
	// SessionTaken reports whether a session belongs to another thread than one.
	SessionTaken(than thread.ID, session string) bool
}
