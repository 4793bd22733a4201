package rebuild

import (
	"context"
	"time"

	"orchestrator/thread"
)

// Kind is the kind of the intents that mark threads with lost turns.
const Kind = "rebuild"

// Agent is what an agent must support so that turns can be rebuilt from its files.
type Agent interface {
	thread.Transcriber
	thread.UsageReader
	// BeginsTurn reports whether a line of a session's main file is the first of a turn.
	BeginsTurn(line []byte) bool
}

// Store is the part of the store that is needed.
type Store interface {
	thread.Threads
	thread.Checkpoints
	thread.Intents
}

// Spool is the part of the spool that is needed.
type Spool interface {
	Kept() (map[thread.ID]thread.Spooled, error)
	Read(id thread.ID, at int64) (thread.Checkpoint, thread.Delta, error)
}

// Snapshot is a snapshot of a thread's files.
type Snapshot struct {
	thread.Snapshot
	// It was taken at From or later, and before Until.
	From, Until time.Time
}

// Config configures Run. Spool, Snapshots and Models may be nil.
type Config struct {
	Store  Store
	Agents thread.Agents
	Env    []string // of the server
	Spool  Spool
	// Snapshots lists the snapshots of a thread, oldest first.
	Snapshots func(context.Context, thread.ID) ([]Snapshot, error)
	Models    thread.Models
}
