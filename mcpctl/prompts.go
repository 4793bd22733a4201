package mcpctl

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"orchestrator/mcpctl/hub"
	"orchestrator/thread"
)

// Prompt implements thread.MCP: its words may switch servers on, before the agent's next request.
func (c *Controller) Prompt(id thread.ID, text string) {
	b := c.board(id)
	if b == nil || !b.takes || strings.TrimSpace(text) == "" {
		return
	}
	h := fnv.New64a()
	h.Write([]byte(strings.Join(strings.Fields(text), " ")))
	cat := c.of(b)
	c.mu.Lock()
	if slices.Contains(b.prompts, h.Sum64()) {
		c.mu.Unlock()
		return
	}
	b.prompts = append(b.prompts, h.Sum64())
	b.prompts = b.prompts[max(0, len(b.prompts)-maxPrompts):]
	b.task = text
	var on []*entry
	for _, e := range cat.entries {
		if _, already := b.state(e); already && !b.ending[e.ID] || slices.Contains(b.decided.Off, e.ID) || !e.accepted() {
			continue
		}
		if reason, ok := e.patterns.Match(text); ok {
			b.decided = b.decided.SwitchOn(thread.MCPSwitch{Server: e.ID, By: thread.MCPPattern, Why: reason})
			on = append(on, e)
		}
	}
	t := b.t
	c.mu.Unlock()
	var fresh []*entry
	for _, e := range on {
		if _, known := c.lists.reading(e); !known {
			fresh = append(fresh, e)
		}
		c.hub.Prewarm(e.server(), nobody{t.ID, t.Dir})
	}
	c.mu.Lock()
	b.fresh = fresh
	c.mu.Unlock()
	if len(on) > 0 {
		c.background(func() { c.tell(id) })
		c.save(id)
	}
	c.background(func() { c.suggest(id, text) })
}

// maxPrompts is how many prompts of a thread are remembered as seen.
const maxPrompts = 50

// readyPause is how often Ready looks; connectPause is how long it waits for an agent to connect, and listPause for it to
// read its tools after a change, of which it is reminded each remindPause.
const (
	readyPause   = 20 * time.Millisecond
	connectPause = 3 * time.Second
	listPause    = 3 * time.Second
	remindPause  = time.Second
)

// Ready implements thread.MCP.
func (c *Controller) Ready(ctx context.Context, id thread.ID) {
	c.mu.Lock()
	b := c.threads[id]
	var fresh []*entry
	given, atTurn := false, false
	if b != nil {
		fresh, b.fresh = b.fresh, nil
		given, atTurn = b.reach.Given, b.reach.AtTurn
	}
	c.mu.Unlock()
	if given {
		c.wait(ctx, connectPause, func() bool { return c.connected(id) })
	}
	c.wait(ctx, startPause, func() bool { return c.started(fresh, id) })
	c.agents.Changed(id) // a switch may not have been told yet
	reminded := time.Now()
	read := c.wait(ctx, listPause, func() bool {
		if atTurn || c.upToDate(id) {
			return true
		}
		if time.Since(reminded) > remindPause {
			reminded = time.Now()
			c.remind(id)
		}
		return false
	})
	var late []string
	for _, e := range fresh {
		if !c.started([]*entry{e}, id) {
			late = append(late, e.ID)
		}
	}
	if len(late) > 0 && c.ctx.Err() == nil {
		c.cfg.Threads.Notice(id, thread.LevelWarn, fmt.Sprintf("%s has not started within %v: the prompt is sent without it; its tools follow "+
			"once it has started", strings.Join(late, ", "), startPause))
	}
	if !read && ctx.Err() == nil && c.ctx.Err() == nil {
		c.cfg.Threads.Notice(id, thread.LevelWarn, fmt.Sprintf("the agent was told that its MCP servers have changed, and "+
			"has not read that within %v: the prompt is sent anyway", listPause))
	}
}

// Started implements thread.ServerStarter.
func (c *Controller) Started(ctx context.Context, id thread.ID) {
	c.mu.Lock()
	var fresh []*entry
	if b := c.threads[id]; b != nil {
		fresh = slices.Clone(b.fresh)
	}
	c.mu.Unlock()
	if len(fresh) > 0 {
		c.wait(ctx, startPause, func() bool { return c.started(fresh, id) })
	}
}

// startPause is how long Ready waits for servers that were never started before.
const startPause = 5 * time.Second

// wait waits until something is so, looking at once and then often; false if it is not in time or the context ends.
func (c *Controller) wait(ctx context.Context, limit time.Duration, so func() bool) bool {
	tick := time.NewTicker(readyPause)
	defer tick.Stop()
	end := time.NewTimer(limit)
	defer end.Stop()
	for !so() {
		select {
		case <-ctx.Done():
			return false
		case <-c.ctx.Done():
			return false
		case <-end.C:
			return false
		case <-tick.C:
		}
	}
	return true
}

// started reports whether the tools of all servers are known, or will not be soon.
func (c *Controller) started(servers []*entry, id thread.ID) bool {
	states := c.hub.States()
	for _, e := range servers {
		if _, known := c.lists.reading(e); known {
			continue
		}
		failed := slices.ContainsFunc(states, func(s hub.State) bool {
			return s.Hash == e.hash && (s.Thread == "" || s.Thread == id) && s.Status != hub.Starting && s.Status != hub.Cold
		})
		if !failed {
			return false
		}
	}
	return true
}

// suggest offers the server that a task most likely needs and that is not on.
func (c *Controller) suggest(id thread.ID, text string) {
	b := c.board(id)
	if b == nil {
		return
	}
	cat := c.of(b)
	for _, s := range c.likely(c.spotOf(b), text) {
		e, ok := cat.find(s.Server)
		if !ok || !e.accepted() {
			continue
		}
		c.mu.Lock()
		_, on := b.state(e)
		off := slices.Contains(b.decided.Off, e.ID)
		given := b.reach.Given
		c.mu.Unlock()
		if on || off {
			continue
		}
		if given {
			c.cfg.Threads.Suggest(id, e.ID, s.Why)
		}
		return
	}
}

// TurnEnded implements thread.MCP: what was to be off at the end of the turn is off now, and what the turn used is
// remembered.
func (c *Controller) TurnEnded(id thread.ID) {
	c.mu.Lock()
	b := c.threads[id]
	if b == nil {
		c.mu.Unlock()
		return
	}
	ended := len(b.ending) > 0
	clear(b.ending)
	task := b.task
	var used []string
	for server := range b.used {
		used = append(used, server)
	}
	b.task = ""
	clear(b.used)
	c.mu.Unlock()
	if ended {
		c.tell(id)
	}
	if task != "" && len(used) > 0 && c.cfg.Memory != nil {
		slices.Sort(used)
		c.background(func() {
			h := fnv.New64a()
			h.Write([]byte(task))
			if err := c.cfg.Memory.Remember(fmt.Sprintf("%s %x", id, h.Sum64()), task, used); err != nil {
				c.cfg.Log.Warn("remember which MCP servers a task used", "err", err)
			}
		})
	}
}
