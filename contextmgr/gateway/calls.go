package gateway

import "sync"

// calls counts requests that are being carried, and queues that still have things to tell.
type calls struct {
	sync.WaitGroup

	mu     sync.Mutex // guards closed; a leaf
	closed bool
}

// enter counts a request in, unless the gateway is closed.
func (c *calls) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.Add(1)
	return true
}

// close lets no more in. It reports whether it is the first to do so.
func (c *calls) close() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !c.closed
	c.closed = true
	return first
}

// over reports whether the gateway is closed.
func (c *calls) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}
