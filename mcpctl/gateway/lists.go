package gateway

import (
	"encoding/json"
	"slices"
	"time"
)

// listOf returns the entries that a method lists, and the key of the list.
func (s *session) listOf(method string) (key string, all []entry) {
	on := s.gateway.servers.On(s.id)
	switch method {
	case "tools/list":
		return "tools", sorted(append(slices.Clone(s.own), tools(on)...))
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
	c.session.mu.Lock()
	if _, asked := c.session.given[c.method]; !asked { // what changes from here on is told
		c.session.given[c.method], c.session.told[c.method] = "", ""
	}
	c.session.mu.Unlock()
	key, all := c.session.listOf(c.method)
	now := c.session.digestOf(c.method, all)
	items := make([]json.RawMessage, len(all))
	for i, e := range all {
		items[i] = e.raw
	}
	c.session.mu.Lock()
	c.session.given[c.method], c.session.told[c.method] = now, now
	if c.method == "tools/list" {
		c.session.listed = time.Now()
		for _, e := range all {
			c.session.shown[shownTool{e.server, e.own}], c.session.shown[shownTool{e.server, ""}] = true, true
		}
	}
	c.session.mu.Unlock()
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
