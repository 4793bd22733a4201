package gateway

import (
	"encoding/json"
	"time"
)

// listOf returns the entries that a method lists, and the key of the list.
func (s *session) listOf(method string) (key string, all []entry) {
	on := s.gateway.servers.On(s.id)
	switch method {
	case "tools/list":
		return "tools", sorted(append(ownTools(), tools(on)...))
	case "prompts/list":
		return "prompts", prompts(on)
	case "resources/list":
		return "resources", resources(on)
	default:
		return "resourceTemplates", templates(on)
	}
}

// list answers with a whole list: what is known of the servers is bounded.
func (c *call) list() (json.RawMessage, error) {
	c.mu.Lock()
	if _, asked := c.given[c.method]; !asked { // what changes from here on is told
		c.given[c.method], c.told[c.method] = "", ""
	}
	c.mu.Unlock()
	key, all := c.listOf(c.method)
	now := c.digestOf(c.method, all)
	items := make([]json.RawMessage, len(all))
	for i, e := range all {
		items[i] = e.raw
	}
	c.mu.Lock()
	c.given[c.method], c.told[c.method] = now, now
	if c.method == "tools/list" {
		c.listed = time.Now()
		for _, e := range all {
			c.shown[shownTool{e.server, e.own}], c.shown[shownTool{e.server, ""}] = true, true
		}
	}
	c.mu.Unlock()
	result := map[string]any{key: items}
	if c.modern {
		result["ttlMs"], result["cacheScope"] = 0, "private"
	}
	return encoded(result), nil
}

// digestOf tells the states of a list apart; that of the resources includes their templates.
func (s *session) digestOf(method string, all []entry) string {
	d := digest(all)
	if method == "resources/list" {
		_, more := s.listOf("resources/templates/list")
		d += digest(more)
	}
	return d
}
