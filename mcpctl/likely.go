package mcpctl

import (
	"orchestrator/mcpctl/match"
)

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
