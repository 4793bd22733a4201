package mcpctl

import (
	"maps"
	"strings"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/gateway"
	"orchestrator/mcpctl/hub"
	"orchestrator/thread"
)

const gatewayName = gateway.Name

// Launch implements thread.MCP.
func (c *Controller) Launch(t thread.Thread) *thread.MCPLaunch {
	at := c.spots.spotIn(t.ID, c.cfg.Places.In(t.Dir).Where())
	cat := c.refresh(c.spots.folder(at))
	if at.env != nil {
		cat = c.judge(at)
	}
	l := &thread.MCPLaunch{
		Name: gatewayName, Registered: c.cfg.Registered, Command: c.cfg.Bridge,
		Foreign: map[string][]thread.MCPForeign{}, Distrust: map[string]bool{},
	}
	accepted := map[string]bool{} // launch hashes
	for _, e := range cat.entries {
		accepted[e.hash] = accepted[e.hash] || e.accepted()
		foreign(l, e.Definition, e.accepted())
	}
	// The agent reads the files of its own folder, which may be another one with other files.
	if places := c.spots.places(at); t.Dir != "" && places.Where() != t.Dir {
		places.Project = places.Top(t.Dir)
		found := places.Definitions()
		for _, d := range found.Definitions {
			if !d.Trusted() {
				foreign(l, d, accepted[found.Hashes[d.ID]])
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

// foreign notes a server that the agents' own files configure.
func foreign(l *thread.MCPLaunch, d definition.Definition, accepted bool) {
	for _, s := range d.Sources {
		l.Foreign[s.Agent] = append(l.Foreign[s.Agent], thread.MCPForeign{Name: d.Name, Remote: d.URL != ""})
		if s.Scope == definition.Project && !accepted {
			l.Distrust[s.Agent] = true
		}
	}
}

// Launched implements thread.MCP.
func (c *Controller) Launched(id thread.ID, r thread.MCPReach) {
	b := c.board(id)
	if b == nil {
		return
	}
	c.mu.Lock()
	b.reach = r
	b.runs++
	c.mu.Unlock()
	c.cfg.Threads.Changed(id)
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
	b, run := c.threads[id], 0
	if b != nil {
		b.reach, run = thread.MCPReach{}, b.runs
		clear(b.ending)
	}
	c.mu.Unlock()
	c.agents.Drop(id)
	c.background(func() { // a stubborn server takes seconds to end
		c.mu.Lock()
		again := b != nil && b.runs != run
		c.mu.Unlock()
		if !again { // otherwise the next run uses them
			c.hub.Forget(id)
			c.rest(id, b, run)
		}
	})
}

// rest lets go of the switchboard of a thread whose agent has ended with a run, if all of it is stored.
func (c *Controller) rest(id thread.ID, b *switchboard, run int) {
	c.saving.Lock()
	defer c.saving.Unlock()
	t, err := c.cfg.Threads.Find(string(id))
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.told, func(key string, _ hub.Status) bool { return strings.HasSuffix(key, " "+string(id)) })
	if b != nil && c.threads[id] == b && b.runs == run && (err != nil || t.MCP.Equal(b.decided)) {
		delete(c.threads, id)
	}
}

// Forget implements thread.MCP.
func (c *Controller) Forget(id thread.ID) {
	c.mu.Lock()
	delete(c.threads, id)
	c.mu.Unlock()
	c.background(func() {
		c.hub.Forget(id)
		c.rest(id, nil, 0)
	})
}
