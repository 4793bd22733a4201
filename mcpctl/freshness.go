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

// connected reports whether the agent has read its tools at all.
func (c *Controller) connected(id thread.ID) bool {
	f, ok := c.agents.(Freshness)
	if !ok {
		return true
	}
	_, read := f.Followed(id)
	return !read.IsZero()
}

// followed reports whether the agent has been told of a change since a moment, and has read its tools.
func (c *Controller) followed(id thread.ID, since time.Time) bool {
	f, ok := c.agents.(Freshness)
	if !ok {
		return true
	}
	told, read := f.Followed(id)
	return told.After(since) && read.After(told)
}
