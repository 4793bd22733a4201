package gateway

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"orchestrator/thread/plaintext"
)

// entry is an item of a list, as the agent sees it, and whose it is.
type entry struct {
	name   string // exposed; the URI of a resource
	server string
	own    string // the server's name or URI for it
	raw    json.RawMessage
}

// maxDescription is the most bytes of a tool's description that an agent gets.
const maxDescription = 2048

// tools returns the tools of the servers as an agent sees them, by name.
func tools(servers []Server) []entry {
	var all []entry
	for _, e := range toolNames(servers) {
		if raw, ok := Definition(e.raw, e.name); ok {
			e.raw = raw
			all = append(all, e)
		}
	}
	return all
}

// toolNames returns the tools of the servers as the servers describe them, by name.
func toolNames(servers []Server) []entry {
	var all []entry
	for _, s := range servers {
		names := make([]string, len(s.Tools))
		for i, t := range s.Tools {
			names[i] = t.Name
		}
		for i, name := range exposed(s.ID, names) {
			all = append(all, entry{name: name, server: s.ID, own: names[i], raw: s.Tools[i].Raw})
		}
	}
	return sorted(all)
}

// Definition returns a tool as the agent sees it: renamed, without what makes clients refuse staged results (outputSchema),
// what is for remote transports (x-mcp-header), and what of its description is over the limit.
func Definition(raw json.RawMessage, name string) (json.RawMessage, bool) {
	o, err := asObject(raw)
	if err != nil {
		return nil, false
	}
	o.set("name", name)
	delete(o, "outputSchema")
	if d := o.text("description"); len(d) > maxDescription {
		o.set("description", plaintext.Cut(d, maxDescription)+" …")
	}
	if strings.Contains(string(o["inputSchema"]), "x-mcp-header") {
		o["inputSchema"] = withoutHeaders(o["inputSchema"])
	}
	return o.raw(), true
}

// withoutHeaders removes the annotations that turn arguments into HTTP headers.
func withoutHeaders(schema json.RawMessage) json.RawMessage {
	s, err := asObject(schema)
	if err != nil {
		return schema
	}
	properties, err := asObject(s["properties"])
	if err != nil {
		return schema
	}
	for name, raw := range properties {
		if p, err := asObject(raw); err == nil && p["x-mcp-header"] != nil {
			delete(p, "x-mcp-header")
			properties[name] = p.raw()
		}
	}
	s["properties"] = properties.raw()
	return s.raw()
}

// prompts returns the prompts of the servers, by name.
func prompts(servers []Server) []entry {
	var all []entry
	for _, s := range servers {
		var items []object
		var names []string
		for _, raw := range s.Prompts {
			if o, err := asObject(raw); err == nil && o.text("name") != "" {
				items, names = append(items, o), append(names, o.text("name"))
			}
		}
		for i, name := range exposed(s.ID, names) {
			items[i].set("name", name)
			all = append(all, entry{name: name, server: s.ID, own: names[i], raw: items[i].raw()})
		}
	}
	return sorted(all)
}

// resources returns the resources of the servers, by URI. A URI that two servers have is the first one's; the other's
// has its server in front, as server+uri.
func resources(servers []Server) []entry {
	return byURI(servers, "uri", func(s Server) []json.RawMessage { return s.Resources })
}

// templates returns the resource templates of the servers.
func templates(servers []Server) []entry {
	return byURI(servers, "uriTemplate", func(s Server) []json.RawMessage { return s.Templates })
}

func byURI(servers []Server, key string, list func(Server) []json.RawMessage) []entry {
	var all []entry
	taken := map[string]bool{}
	for _, s := range servers {
		for _, raw := range list(s) {
			o, err := asObject(raw)
			if err != nil || o.text(key) == "" {
				continue
			}
			e := entry{name: o.text(key), server: s.ID, own: o.text(key), raw: raw}
			if taken[e.name] {
				e.name = schemeOf(s.ID) + "+" + e.name
				o.set(key, e.name)
				e.raw = o.raw()
			}
			if !taken[e.name] {
				taken[e.name] = true
				all = append(all, e)
			}
		}
	}
	return sorted(all)
}

// schemeOf makes the beginning of a URI's scheme of a server's name.
func schemeOf(server string) string {
	return "s" + strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '.':
			return r
		}
		return '-'
	}, server)
}

// sorted sorts entries by name. Of those with the same name, which clients would refuse, the first one stays.
func sorted(all []entry) []entry {
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	return slices.CompactFunc(all, func(a, b entry) bool { return a.name == b.name })
}

// digest tells lists apart.
func digest(all []entry) string {
	h := sha256.New()
	for _, e := range all {
		h.Write(e.raw)
		h.Write([]byte{'\n'})
	}
	return string(h.Sum(nil))
}

// find returns the entry with a name.
func find(all []entry, name string) (entry, bool) {
	i, ok := slices.BinarySearchFunc(all, name, func(e entry, name string) int { return cmp.Compare(e.name, name) })
	if !ok {
		return entry{}, false
	}
	return all[i], true
}
