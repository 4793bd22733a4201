package record

import (
	"context"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/bundle"
	"orchestrator/thread/work"
)

// Author is who records or asks: the zero value is the person.
type Author struct {
	Agent  bool
	Thread thread.ID // the agent's, "" if it is in none of this project
	// Reads is set for an agent that may read what others recorded.
	Reads bool
}

// Config is what a Book works with.
type Config struct {
	Store work.Record
	Now   func() time.Time
	// Host and User are written into each row.
	Host, User string
	// Root is the project's root.
	Root string
	// Files tells how files have changed; nil where that is not known, and deliverables are claims without figures.
	Files Files
	// Checks runs the project's checks; nil where there are none.
	Checks Checks
	// Belongs returns the work session that a thread belongs to, "" for none. Without it, no thread belongs to any.
	Belongs func(ctx context.Context, of thread.ID) (string, error)
	// Target returns what a bundle is counted for: an agent's model, both "" for any. Without it, a token is four bytes.
	Target func(ctx context.Context, agent, model string) bundle.Target
}

// target returns what a bundle is counted for.
func (c Config) target(ctx context.Context, agent, model string) bundle.Target {
	if c.Target == nil {
		return bundle.Target{Count: func(text string) int64 { return int64(len(text)+3) / 4 }, Margin: 1}
	}
	return c.Target(ctx, agent, model)
}
