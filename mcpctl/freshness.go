package mcpctl

import (
	"slices"
	"time"

	"orchestrator/thread"
)

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

// upToDate reports whether the agent has its tools as they are now.
func (c *Controller) upToDate(id thread.ID) bool {
	f, ok := c.agents.(Freshness)
	return !ok || f.Current(id)
}

// given reports whether the agent was given one of the tools of a server, any if none is named.
func (c *Controller) given(id thread.ID, server string, tools ...string) bool {
	f, ok := c.agents.(Freshness)
	if !ok {
		return false
	}
	if len(tools) == 0 {
		return f.Given(id, server, "")
	}
	return slices.ContainsFunc(tools, func(tool string) bool { return f.Given(id, server, tool) })
}

// remind tells the agent once more that its tools have changed.
func (c *Controller) remind(id thread.ID) {
	if f, ok := c.agents.(Freshness); ok {
		f.Remind(id)
	}
}
