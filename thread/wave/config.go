package wave

import (
	"context"
	"io"
	"log/slog"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// Config is what Waves works with.
type Config struct {
	Store  plan.Store
	Record work.Record
	Runs   Runs
	// Schemas checks values against JSON Schemas.
	Schemas Schemas
	// Program returns the words of an agent's program as it was accepted, which may be a copy; nil for as they are.
	Program func(a plan.Agent) ([]string, error)
	// World is what plans meet; nil where it is not known, and then only what a plan is by itself is checked.
	World func() plan.World
	// Staged keeps what is handed over by token.
	Staged Staged
	// Given puts data where the agent of a round may read it, and nobody else's, and returns the file's path.
	Given func(part thread.Part, name string, data []byte) (string, error)
	// Thread returns a thread: whose agent asks follows from it.
	Thread func(context.Context, thread.ID) (thread.Thread, error)
	// Changed tells clients that a task has changed; it must not block.
	Changed func(task string)
	// Over is told of each task of this server that is final; it must not block. May be nil.
	Over func(t plan.Task)
	// Asked is told what a person is asked; it must not block. May be nil.
	Asked func(q thread.NodeQuestion)
	// Notice tells people something; it must not block. May be nil.
	Notice func(level thread.Level, text string)
	Now    func() time.Time
	Log    *slog.Logger
	// Agent is what works where a plan names no other.
	Agent string
	// Count counts tokens of a prompt.
	Count func(text string) int
	// Server is what this server is known by, the same after a restart: no other server has it at the same time, so that what is
	// at work under this name is this server's. Host and User are written into rows, Root is the project's folder.
	Server, Host, User, Root string
	// Alone is set where no other server can have the store: what is at work under another name is this server's too, which had
	// that name before its host was renamed or its project moved.
	Alone bool
}

// filled is the configuration with what is usual where nothing is said.
func (c Config) filled() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Count == nil {
		c.Count = func(text string) int { return (len(text) + 3) / 4 }
	}
	if c.Program == nil {
		c.Program = func(a plan.Agent) ([]string, error) { return a.Program, nil }
	}
	if c.Over == nil {
		c.Over = func(plan.Task) {}
	}
	if c.Changed == nil {
		c.Changed = func(string) {}
	}
	if c.Asked == nil {
		c.Asked = func(thread.NodeQuestion) {}
	}
	if c.Notice == nil {
		c.Notice = func(thread.Level, string) {}
	}
	return c
}

// Runs starts what runs without a terminal.
type Runs interface {
	// Start starts a run. With Once.Part it is the execution of that round: if there is one already, that is returned.
	Start(ctx context.Context, r thread.NewRequest) (work.Execution, error)
	// Find returns the newest execution of a round; ok is false if there is none whose prompt was stored.
	Find(ctx context.Context, part thread.Part) (x work.Execution, ok bool, err error)
	// Again gives the thread of a round another prompt: its next execution.
	Again(ctx context.Context, of thread.ID, text string) (work.Execution, error)
	// Cancel ends an execution; one that has ended is none to cancel, and no error.
	Cancel(ctx context.Context, id work.ID, why string) error
	// Dispose does with the worktree of an execution that has completed as its plan says, unless something works in it. Before,
	// it stays. It does not block.
	Dispose(x work.Execution)
	// Rest takes the thread of a round that is over out of the lists and of memory, unless it has a worktree. Who asks for it
	// finds it as before. It does not block.
	Rest(of thread.ID)
	// Budget sets what a group of runs may spend, unless that is set already: a person may have changed it.
	Budget(ctx context.Context, group string, b thread.Budget) error
}

// Schemas checks JSON against schemas.
type Schemas = plan.Schemas

// Staged keeps staged data.
type Staged interface {
	Stage(ctx context.Context, r thread.StageRequest, data io.Reader) (thread.Staged, error)
	Retrieve(token thread.Token, part thread.Selection) (thread.StagedData, error)
	// Find returns what is staged under a token, or the only one of what may says yes to that begins so.
	Find(token string, may func(thread.Staged) bool) (thread.Staged, error)
}

// Author is who asks: the zero value is the person.
type Author = record.Author
