// Package resume finds how an agent gets a thread's conversation back: in its own session, in one that is rebuilt from
// the stored transcript, or from a summary. It also rebuilds sessions.
package resume

import (
	"context"
	"log/slog"

	"orchestrator/thread"
	"orchestrator/thread/manager/past"
)

// Finder finds ways to resume threads' conversations.
type Finder struct {
	Store    Store
	Past     past.Reader // reads what is stored
	Threads  Threads
	Env      func(thread.Thread) []string // the environment that a thread's agent starts from
	StateDir func(thread.ID) string       // for a thread's own files
	Places   func(dir string) []string    // where a folder is and was before
	Log      *slog.Logger
}

// Store is what a Finder reads of the store; see thread.Store.
type Store interface {
	Checkpoint(context.Context, thread.CheckpointID) (thread.Checkpoint, error)
	Lineage(context.Context, thread.CheckpointID, thread.Page) ([]thread.Checkpoint, error)
	Transcript(context.Context, thread.CheckpointID) ([]thread.TranscriptFile, error)
	Marks(context.Context, thread.CheckpointID) ([]thread.Mark, error)
}

// Threads knows the current state of all threads.
type Threads interface {
	// Thread returns a thread, false if there is none.
	Thread(thread.ID) (thread.Thread, bool)
	// SessionTaken reports whether a session belongs to another thread than the given one; "" belongs to none.
	SessionTaken(than thread.ID, session string) (bool, error)
}
