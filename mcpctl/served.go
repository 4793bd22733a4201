package mcpctl

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"orchestrator/mcpctl/gateway"
	"orchestrator/mcpctl/match"
	"orchestrator/thread"
)

// reading returns what is known of a server's lists; false if it was never started. It starts nothing.
func (c *Controller) reading(e *entry) (reading, bool) {
	c.mu.Lock()
	r, ok := c.reads[e.hash]
	c.mu.Unlock()
	if ok {
		return r, true
	}
	m, ok := c.hub.Cached(e.server())
	if !ok {
		return reading{}, false
	}
	r = reading{manifest: m}
	var raws []json.RawMessage
	for _, t := range m.Tools {
		if t.Problem == "" {
			raws = append(raws, t.Raw)
		}
	}
	review, err := c.cfg.Trust.Check(e.Definition, e.hash, raws)
	next := 0
	for _, t := range m.Tools {
		one := tool{Tool: t, withheld: t.Problem}
		switch {
		case t.Problem != "":
		case err != nil:
			one.withheld = "its definition cannot be compared with the one you accepted: " + err.Error()
		default:
			one.review = review.Tools[next]
			next++
			one.withheld = withheld(one.review)
		}
		if one.withheld == "" && !allows(e.Definition, t.Name) {
			one.withheld = "its configuration leaves it out"
		}
		r.tools = append(r.tools, one)
	}
	c.mu.Lock()
	c.reads[e.hash] = r
	c.mu.Unlock()
	return r, true
}

// knows returns an error if a server is known not to have a tool.
func (c *Controller) knows(e *entry, name string) error {
	r, ok := c.reading(e)
	if !ok {
		return nil
	}
	if slices.ContainsFunc(r.tools, func(t tool) bool { return t.Name == name }) {
		return nil
	}
	return thread.Hint(fmt.Errorf("tool %q of %s: %w", name, e.ID, thread.ErrNotFound),
		"`orchestrator mcp show "+e.ID+"` lists its tools")
}

// On implements gateway.Servers.
func (c *Controller) On(id thread.ID) []gateway.Server {
	b := c.board(id)
	if b == nil {
		return nil
	}
	cat := c.current()
	c.mu.Lock()
	on := b.chosenFor(cat)
	hidden := slices.Clone(b.decided.Tools)
	t := b.t
	c.mu.Unlock()
	var all []gateway.Server
	for _, s := range on {
		r, known := c.reading(s.entry)
		if !known { // its lists are known after the first start
			c.hub.Prewarm(s.server(), nobody{t.ID, t.Dir})
			continue
		}
		one := gateway.Server{
			ID: s.ID, StageChars: s.Options.StageChars,
			Prompts: r.manifest.Prompts, Resources: r.manifest.Resources, Templates: r.manifest.Templates,
		}
		for _, t := range r.tools {
			if t.withheld == "" && !slices.Contains(hidden, s.ID+"/"+t.Name) {
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
	cat := c.current()
	i := slices.IndexFunc(cat.entries, func(e *entry) bool { return e.ID == server })
	if i < 0 {
		i = slices.IndexFunc(cat.entries, func(e *entry) bool { return strings.ReplaceAll(e.ID, ".", "_") == server })
	}
	if i < 0 {
		return ""
	}
	e := cat.entries[i]
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
	if r, known := c.reading(e); known {
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
	e, err := c.get(server)
	if err != nil {
		return nil, err
	}
	if b := c.board(caller.Thread()); b != nil && method == "tools/call" {
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
	cat := c.current()
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool {
		return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r > 127)
	})
	type scored struct {
		gateway.Found
		score int
	}
	var all []scored
	for _, e := range cat.entries {
		r, known := c.reading(e)
		if !known || !e.accepted() {
			continue
		}
		c.mu.Lock()
		_, on := b.state(e)
		c.mu.Unlock()
		for _, t := range r.tools {
			if t.withheld != "" {
				continue
			}
			d := description(t.Raw)
			score := 0
			for _, w := range words {
				score += 3*strings.Count(strings.ToLower(e.ID+" "+t.Name), w) + min(2, strings.Count(strings.ToLower(d), w))
			}
			if score > 0 {
				all = append(all, scored{gateway.Found{Server: e.ID, Tool: t.Name, Description: d, On: on}, score})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return b.score - a.score })
	var found []gateway.Found
	for _, s := range all[:min(len(all), maxFound)] {
		found = append(found, s.Found)
	}
	return found
}

// likely returns the servers that a task probably needs, by their descriptions and what similar tasks used.
func (c *Controller) likely(text string) []match.Suggestion {
	c.mu.Lock()
	index := c.index
	c.mu.Unlock()
	if index == nil {
		index = c.newIndex()
		c.mu.Lock()
		c.index = index
		c.mu.Unlock()
	}
	return index.Suggest(text)
}

// newIndex makes an index of all servers that could be switched on.
func (c *Controller) newIndex() *match.Index {
	var all []match.Server
	for _, e := range c.current().entries {
		if !e.accepted() {
			continue
		}
		s := match.Server{ID: e.ID, Name: e.Name, Tags: e.Options.Tags, Description: e.Options.Description}
		if r, known := c.reading(e); known {
			s.Description += "\n" + r.manifest.Instructions
			for _, t := range r.tools {
				if t.withheld == "" {
					s.Tools = append(s.Tools, match.Tool{Name: t.Name, Description: description(t.Raw)})
				}
			}
		}
		all = append(all, s)
	}
	return match.NewIndex(all, c.cfg.Memory)
}
