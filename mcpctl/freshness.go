package mcpctl

import (
	"time"

	"orchestrator/thread"
)

// Freshness is what is known of how an agent follows changes of its tools.
type Freshness interface {
	// Followed returns when a thread's agent was last told of a change, and when it last read its tools.
	Followed(thread.ID) (told, read time.Time)
}

// slow is how long after a change an agent reads its tools again; one that does not, does it at its next start.
const slow = 10 * time.Second

// stale reports whether the agent was told of a change and has not read its tools since.
func (c *Controller) stale(id thread.ID) bool {
	f, ok := c.agents.(Freshness)
	if !ok {
		return false
	}
	told, read := f.Followed(id)
	return !told.IsZero() && read.Before(told) && time.Since(told) > slow
}
