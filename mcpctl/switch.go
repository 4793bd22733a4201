package mcpctl

import (
	"context"
	"fmt"
	"maps"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/thread"
)

// Enabled implements thread.MCP.
func (c *Controller) Enabled(id thread.ID) []string {
	b := c.board(id)
	if b == nil {
		return nil
	}
	cat := c.of(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	var on []string
	for _, s := range b.chosenFor(cat) {
		if !s.ending {
			on = append(on, s.entry.ID)
		}
	}
	return thread.MCPList(on, b.decided.Tools)
}

// Switch switches a server or a tool for a thread, as a person has asked.
func (c *Controller) Switch(ctx context.Context, r thread.MCPChange) (thread.MCPReport, error) {
	t, err := c.cfg.Threads.Find(r.Thread)
	if err != nil {
		return thread.MCPReport{}, err
	}
	e, err := c.get(c.spotOf(c.board(t.ID)), r.Server)
	if err != nil {
		return thread.MCPReport{}, err
	}
	if r.On {
		err := usable(e)
		if missing := definition.Missing(e.Definition, c.spots.environ(c.spotOf(c.board(t.ID)))); err == nil && missing != "" {
			err = thread.Hint(thread.Kindf(thread.ErrRefused, "it cannot start: %s", missing), "install it, or correct its configuration")
		}
		if err != nil {
			return thread.MCPReport{}, fmt.Errorf("switch on %s: %w", e.ID, err)
		}
	}
	if r.Tool != "" {
		if err := c.lists.knows(e, r.Tool); err != nil {
			return thread.MCPReport{}, err
		}
	}
	working := c.cfg.Threads.Working(t.ID)
	err = c.decide(ctx, t.ID, func(b *switchboard) {
		switch {
		case r.Tool != "":
			b.decided = b.decided.SwitchTool(e.ID, r.Tool, r.On)
		case r.On:
			delete(b.ending, e.ID)
			b.decided = b.decided.SwitchOn(thread.MCPSwitch{Server: e.ID, By: thread.MCPPerson})
		default:
			_, on := b.state(e)
			if delete(b.ending, e.ID); on && working && !r.Force {
				b.ending[e.ID] = true
			}
			b.decided = b.decided.SwitchOff(e.ID)
		}
	})
	if err != nil {
		return thread.MCPReport{}, err
	}
	if b := c.board(t.ID); r.On && r.Tool == "" && b != nil && b.takes {
		c.hub.Prewarm(e.server(), nobody{t.ID, t.Dir})
	}
	return c.Report(ctx, thread.MCPQuery{Thread: string(t.ID)})
}

// Take implements thread.MCP.
func (c *Controller) Take(ctx context.Context, id thread.ID, server, why string) error {
	e, err := c.get(c.spotOf(c.board(id)), server)
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

// save stores what is decided for a thread, soon.
func (c *Controller) save(id thread.ID) {
	c.background(func() {
		c.saving.Lock()
		defer c.saving.Unlock()
		c.mu.Lock()
		b := c.threads[id]
		if b == nil {
			c.mu.Unlock()
			return
		}
		now := b.decided.Clone()
		c.mu.Unlock()
		ctx, cancel := context.WithTimeout(c.ctx, 30*time.Second)
		defer cancel()
		err := c.cfg.Threads.SetMCP(ctx, string(id), func(thread.MCPSwitches) thread.MCPSwitches { return now })
		if err != nil && ctx.Err() == nil {
			c.cfg.Log.Warn("store the switches of MCP servers", "thread", string(id), "err", err)
		}
	})
}
