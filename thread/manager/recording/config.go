package recording

import (
	"context"
	"log/slog"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/past"
)

// Config is what the recorders of a project share. Spool, Files and Models may be nil.
type Config struct {
	Store  Store
	Past   past.Reader  // reads what is stored
	Spool  thread.Spool // keeps what the store refuses; nil keeps it in memory alone
	Files  Snapshots    // keeps files
	Agents Agents
	Models thread.Models // fills in what transcripts do not tell

	Env   func(thread.Thread) []string // that a thread's agent starts from
	MCPs  func(thread.ID) []string     // the MCP servers that are on for a thread
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

// Snapshots keeps files; see thread.Worktrees.
type Snapshots interface {
	Take(ctx context.Context, id thread.ID, dir string, prev *thread.Snapshot) (thread.Snapshot, error)
}

// Agents finds agents by name. Those that are a thread.Transcriber have their native files stored, and those that are a
// thread.UsageReader can be recorded without the gateway.
type Agents interface {
	Agent(name string) (thread.Agent, error)
}
