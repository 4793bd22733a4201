package recording

import (
	"context"
	"log/slog"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/past"
)

// Config is what all recorders of a project share. Spool, Files and Models may be nil.
type Config struct {
	Store  Store
	Past   past.Reader  // reads what is stored
	Spool  thread.Spool // keeps what the store refuses; nil keeps it in memory only
	Files  Snapshots
	Agents Agents
	Models thread.Models // fills in what transcripts lack

	Env   func(thread.Thread) []string // the environment that a thread's agent starts from
	MCPs  func(thread.ID) []string     // the MCP servers that are enabled for a thread
	Clock func() time.Time
	Log   *slog.Logger
}

// Store is what recording needs of the store; see thread.Store.
type Store interface {
	PutCheckpoint(context.Context, thread.Checkpoint, thread.Delta) (thread.Checkpoint, error)
	Checkpoint(context.Context, thread.CheckpointID) (thread.Checkpoint, error)
	Conversation(context.Context, thread.CheckpointID) ([]thread.Item, error)
	Transcript(context.Context, thread.CheckpointID) ([]thread.TranscriptFile, error)
	Marks(context.Context, thread.CheckpointID) ([]thread.Mark, error)
	Thread(context.Context, thread.ID) (thread.Thread, error)
}

// Snapshots takes snapshots of files; see thread.Worktrees.
type Snapshots interface {
	Take(ctx context.Context, id thread.ID, dir string, prev *thread.Snapshot) (thread.Snapshot, error)
}

// Agents finds agents by name. The native files of a thread.Transcriber are stored with its answers; a
// thread.UsageReader can be recorded without the gateway.
type Agents interface {
	Agent(name string) (thread.Agent, error)
}
