package mcpctl

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"orchestrator/mcpctl/gateway"
	"orchestrator/mcpctl/match"
	"orchestrator/mcpctl/trust"
	"orchestrator/thread"
)

// On implements gateway.Servers.
func (c *Controller) On(id thread.ID) []gateway.Server {
	b := c.board(id)
	if b == nil {
		return nil
	}
	cat := c.of(b)
	c.mu.Lock()
	connected := b.connects()
	on := b.chosenFor(cat)
	hidden := slices.Clone(b.decided.Tools)
	t := b.t
	c.mu.Unlock()
	if connected {
		c.save(id)
		c.cfg.Threads.Changed(id)
	}
	var all []gateway.Server
	for _, s := range on {
		r, known := c.lists.reading(s.entry)
		if !known { // its lists are known after the first start
			c.hub.Prewarm(s.entry.server(), nobody{t.ID, t.Dir})
			continue
		}
		one := gateway.Server{
			ID: s.entry.ID, StageChars: s.entry.Options.StageChars,
			Prompts: r.shown(trust.OfPrompt), Resources: r.shown(trust.OfResource), Templates: r.shown(trust.OfTemplate),
		}
		for _, t := range r.tools {
			if t.withheld == "" && !slices.Contains(hidden, s.entry.ID+"/"+t.Name) {
				one.Tools = append(one.Tools, gateway.Tool{Name: t.Name, Raw: t.Raw})
			}
		}
		all = append(all, one)
	}
	return all
}

// Off implements gateway.Servers. server and tool may be as an agent sees them.
func (c *Controller) Off(id thread.ID, server, name string) string {
	b := c.board(id)
	if b == nil {
		return "the thread is gone"
	}
	cat := c.of(b)
	i := slices.IndexFunc(cat.entries, func(e *entry) bool { return e.ID == server })
	if i < 0 {
		i = slices.IndexFunc(cat.entries, func(e *entry) bool { return strings.ReplaceAll(e.ID, ".", "_") == server })
	}
	if i < 0 {
		return ""
	}
	e := cat.entries[i]
	if !e.accepted() { // its files may be again as they were accepted
		if now, ok := c.watched(c.spotOf(b)).find(e.ID); ok {
			e = now
		}
	}
	c.mu.Lock()
	_, on := b.state(e)
	off := b.hides(e.ID, name)
	c.mu.Unlock()
	switch {
	case !e.accepted():
		return e.ID + " cannot be used: the person has not accepted what it starts"
	case !on:
		return e.ID + " is switched off for this thread; the person can switch it on"
	case off:
		return name + " of " + e.ID + " is switched off for this thread; the person can switch it on"
	}
	if r, known := c.lists.reading(e); known {
		for _, t := range r.tools {
			if t.Name == name && t.withheld != "" {
				return name + " of " + e.ID + " is withheld: " + t.withheld
			}
		}
	}
	return ""
}

// Call implements gateway.Servers.
func (c *Controller) Call(
	ctx context.Context, server string, caller gateway.Caller, method string, params json.RawMessage,
) (json.RawMessage, error) {
	b := c.board(caller.Thread())
	e, err := c.get(c.spotOf(b), server)
	if err != nil {
		return nil, err
	}
	if b != nil && method == "tools/call" {
		c.mu.Lock()
		b.used[server] = true
		c.mu.Unlock()
	}
	return c.hub.Call(ctx, e.server(), caller, method, params)
}

// maxFound is how many tools a search returns.
const maxFound = 10

// Find implements gateway.Servers.
func (c *Controller) Find(_ context.Context, id thread.ID, query string) []gateway.Found {
	b := c.board(id)
	if b == nil {
		return nil
	}
	var all []gateway.Found
	var tools []match.Server
	for _, e := range c.of(b).entries {
		r, known := c.lists.reading(e)
		if !known || !e.accepted() {
			continue
		}
		c.mu.Lock()
		_, on := b.state(e)
		c.mu.Unlock()
		for _, t := range r.tools {
			if t.withheld == "" {
				d := description(t.Raw)
				tools = append(tools, match.Server{ID: strconv.Itoa(len(all)), Name: e.ID + " " + t.Name, Description: d})
				all = append(all, gateway.Found{Server: e.ID, Tool: t.Name, Description: d, On: on})
			}
		}
	}
	var found []gateway.Found
	for _, s := range match.NewIndex(tools, nil).Rank(query, maxFound) {
		if i, err := strconv.Atoi(s.Server); err == nil {
			found = append(found, all[i])
		}
	}
	return found
}
