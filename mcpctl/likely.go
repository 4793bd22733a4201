package mcpctl

import (
	"orchestrator/mcpctl/match"
)

// likely returns the servers of a spot that a task probably needs, by their descriptions and what similar tasks used.
func (c *Controller) likely(at spot, text string) []match.Suggestion {
	folder := c.spots.folder(at)
	c.mu.Lock()
	index := c.indexes[folder]
	c.mu.Unlock()
	if index == nil {
		index = c.newIndex(folder)
		c.mu.Lock()
		c.indexes[folder] = index
		c.mu.Unlock()
	}
	return index.Suggest(text)
}

// newIndex makes an index of all servers of a folder that could be switched on.
func (c *Controller) newIndex(folder string) *match.Index {
	var all []match.Server
	for _, e := range c.current(folder).entries {
		if !e.accepted() {
			continue
		}
		s := match.Server{ID: e.ID, Name: e.Name, Tags: e.Options.Tags, Description: e.Options.Description}
		if r, known := c.lists.reading(e); known {
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
