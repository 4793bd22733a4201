package mcpctl

// Held returns of how many threads, and of how many servers' states, something is in memory.
func (c *Controller) Held() (threads, states int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.threads), len(c.told)
}
