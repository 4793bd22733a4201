package mcpctl

import "orchestrator/mcpctl/hub"

// Held returns of how many threads, and of how many servers' states, something is in memory.
func (c *Controller) Held() (threads, states int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.threads), len(c.told)
}

// ServerChanged tells what the hub tells.
func (c *Controller) ServerChanged(s hub.State) { c.serverChanged(s) }
