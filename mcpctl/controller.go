package mcpctl

import (
	"context"
	"sync"

	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/match"
	"orchestrator/thread"
)

// Controller controls the servers of one project. It implements thread.MCP and gateway.Servers.
type Controller struct {
	spots  spots
	lists  *readings
	cfg    *Config
	hub    *hub.Hub
	agents Agents

	ctx    context.Context // of work in the background
	cancel context.CancelFunc
	work   sync.WaitGroup
	saving sync.Mutex // held while switches are stored; taken before mu

	// mu guards the fields below; it is held for moments, never while a port or the hub is called.
	mu       sync.Mutex
	catalogs map[string]*catalog // by folder of the project
	inside   map[string]*catalog // as it stands at spots of threads that differ from the project's
	threads  map[thread.ID]*switchboard
	told     map[string]hub.Status   // last status that screens were told, by server and thread; Cold if there is none
	indexes  map[string]*match.Index // over all servers of a folder; those that are not there must be made
}

// tellAll tells all agents and screens that something of all threads may have changed.
func (c *Controller) tellAll() {
	for _, id := range c.cfg.Threads.Running() {
		c.agents.Changed(id)
	}
	c.cfg.Threads.Changed("")
}

// background does something that nobody waits for.
func (c *Controller) background(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() == nil {
		c.work.Go(do)
	}
}

// tell tells a thread's agent and the screens that its servers have changed.
func (c *Controller) tell(id thread.ID) {
	c.agents.Changed(id)
	c.cfg.Threads.Changed(id)
}

// boardOf returns the switchboard of a thread by any name that people use; nil for no name.
func (c *Controller) boardOf(ref string) (*switchboard, error) {
	if ref == "" {
		return nil, nil
	}
	t, err := c.cfg.Threads.Find(ref)
	if err != nil {
		return nil, err
	}
	return c.board(t.ID), nil
}

// board returns a thread's switchboard, loaded the first time; nil if there is no such thread.
func (c *Controller) board(id thread.ID) *switchboard {
	c.mu.Lock()
	b := c.threads[id]
	c.mu.Unlock()
	if b != nil {
		return b
	}
	t, err := c.cfg.Threads.Find(string(id))
	if err != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.threads[id]; b != nil {
		return b
	}
	b = &switchboard{
		t: t, decided: t.MCP.Clone(), takes: c.cfg.Takes == nil || t.MCP.Taken || c.cfg.Takes(t.Agent),
		ending: map[string]bool{}, used: map[string]bool{},
	}
	c.threads[id] = b
	return b
}

// spotFor returns where the servers of a thread are started, or without one those of a folder, empty for the project's.
func (c *Controller) spotFor(b *switchboard, dir string) spot {
	if b == nil && dir != "" {
		return c.spots.spotIn("", c.cfg.Places.In(dir).Where())
	}
	return c.spotOf(b)
}

// spotOf returns where the servers of a thread are started; nil means the project.
func (c *Controller) spotOf(b *switchboard) spot {
	if b == nil {
		return spot{dir: c.cfg.Project}
	}
	c.mu.Lock()
	id, dir := b.t.ID, b.t.Dir
	c.mu.Unlock()
	return c.spots.spotIn(id, dir)
}
