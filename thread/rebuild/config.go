package rebuild

import (
	"context"
	"time"

	"orchestrator/thread"
)

// Kind is the kind of the intents that say which threads lost turns.
const Kind = "rebuild"

// Agent is what an agent must be able to do for turns to come back from its files.
type Agent interface {
	thread.Transcriber
	thread.UsageReader
	// BeginsTurn reports whether a line of a session's main file is the first of a turn.
	BeginsTurn(line []byte) bool
}

// Store is what is needed of a store.
type Store interface {
	thread.Threads
	thread.Checkpoints
	thread.Intents
}

// Spool is what is needed of the spool.
type Spool interface {
	Kept() (map[thread.ID]thread.Spooled, error)
	Read(id thread.ID, at int64) (thread.Checkpoint, thread.Delta, error)
}

// Snapshot is one that was kept of a thread's files.
type Snapshot struct {
	thread.Snapshot
	// It was taken at From or later, and before Until.
	From, Until time.Time
}

// Config is what Run works with. Spool, Snapshots and Models may be nil.
type Config struct {
	Store  Store
	Agents thread.Agents
	Env    []string // of the server
	Spool  Spool
	// Snapshots lists those that were taken for a thread, oldest first.
	Snapshots func(context.Context, thread.ID) ([]Snapshot, error)
	Models    thread.Models
}
