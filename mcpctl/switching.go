package mcpctl

import (
	"context"
	"fmt"
	"maps"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/gateway"
	"orchestrator/thread"
)

const (
	gatewayName  = gateway.Name
	projectScope = definition.Project
)

// Enabled implements thread.MCP.
func (c *Controller) Enabled(id thread.ID) []string {
	b := c.board(id)
	if b == nil {
		return nil
	}
	cat := c.current()
	c.mu.Lock()
	defer c.mu.Unlock()
	var on []string
	for _, s := range b.chosenFor(cat) {
		if !s.ending {
			on = append(on, s.ID)
		}
	}
	return thread.MCPList(on, b.decided.Tools)
}

// Take implements thread.MCP.
func (c *Controller) Take(ctx context.Context, id thread.ID, server, why string) error {
	e, err := c.get(server)
	if err == nil {
		err = usable(e)
	}
	if err != nil {
		return fmt.Errorf("switch on %s: %w", server, err)
	}
	return c.decide(ctx, id, func(b *switchboard) {
		delete(b.ending, server)
		b.decided = b.decided.SwitchOn(thread.MCPSwitch{Server: server, By: thread.MCPOffer, Why: why})
	})
}

// decide changes what is decided for a thread once that is stored, and tells the agent and the screens. next may be
// called more than once.
func (c *Controller) decide(ctx context.Context, id thread.ID, next func(*switchboard)) error {
	b := c.board(id)
	if b == nil {
		return fmt.Errorf("thread %s: %w", id, thread.ErrNotFound)
	}
	c.saving.Lock()
	defer c.saving.Unlock()
	c.mu.Lock()
	try := &switchboard{t: b.t, decided: b.decided.Clone(), ending: maps.Clone(b.ending)}
	c.mu.Unlock()
	next(try)
	now := try.decided
	err := c.cfg.Threads.SetMCP(ctx, string(id), func(thread.MCPSwitches) thread.MCPSwitches { return now.Clone() })
	if err != nil {
		return err
	}
	c.mu.Lock()
	next(b)
	more := !b.decided.Equal(now) // something else was decided meanwhile
	c.mu.Unlock()
	if more {
		c.save(id)
	}
	c.tell(id)
	return nil
}

// Restored implements thread.MCP.
func (c *Controller) Restored(id thread.ID) {
	c.mu.Lock()
	if b := c.threads[id]; b != nil {
		clear(b.ending)
	}
	c.mu.Unlock()
	t, err := c.cfg.Threads.Find(string(id))
	if err != nil {
		return
	}
	c.mu.Lock()
	if b := c.threads[id]; b != nil {
		b.t, b.decided = t, t.MCP.Clone()
		b.prompts = nil // the same words may come again, and mean the same
	}
	c.mu.Unlock()
	c.tell(id)
}

// Ended implements thread.MCP: the servers that only this thread used end with its agent.
func (c *Controller) Ended(id thread.ID) {
	c.mu.Lock()
	if b := c.threads[id]; b != nil {
		b.reach = thread.MCPReach{}
		clear(b.ending)
	}
	c.mu.Unlock()
	c.agents.Drop(id)
	c.hub.Forget(id)
}

// Launch implements thread.MCP.
func (c *Controller) Launch(t thread.Thread) *thread.MCPLaunch {
	cat := c.refresh()
	l := &thread.MCPLaunch{
		Name: gatewayName, Registered: c.cfg.Registered, Command: c.cfg.Bridge,
		Foreign: map[string][]thread.MCPForeign{}, Distrust: map[string]bool{},
	}
	if c.cfg.Web != "" {
		l.Command, l.URL, l.TokenVar, l.Token = nil, c.cfg.Web, c.cfg.TokenVar, c.cfg.Token(t)
	}
	for _, e := range cat.entries {
		for _, s := range e.Sources {
			l.Foreign[s.Agent] = append(l.Foreign[s.Agent], thread.MCPForeign{Name: e.Name, Remote: e.URL != ""})
			if s.Scope == projectScope && !e.accepted() {
				l.Distrust[s.Agent] = true
			}
		}
	}
	c.mu.Lock()
	if b := c.threads[t.ID]; b != nil {
		b.t = t
	}
	c.mu.Unlock()
	return l
}

// Launched implements thread.MCP.
func (c *Controller) Launched(id thread.ID, r thread.MCPReach) {
	b := c.board(id)
	if b == nil {
		return
	}
	c.mu.Lock()
	b.reach = r
	c.mu.Unlock()
	c.cfg.Threads.Changed(id)
}
