package discovery

import (
	"time"

	"orchestrator/mcpctl/jsonc"
)

// readOpenCode reads opencode.json: "mcp", or "mcp.servers" of its second version.
func readOpenCode(r *reader, content []byte) {
	v, ok := r.parse(content)
	if !ok {
		return
	}
	servers, ok := r.object(v, "mcp")
	if !ok {
		return
	}
	if second, ok := servers.Member("servers"); ok && second.Kind == jsonc.Object && !isServer(second) {
		servers = second
	}
	r.servers(servers, r.scope, setOpenCode)
}

// isServer reports whether an object is a server, not an object of servers.
func isServer(v jsonc.Value) bool {
	for _, key := range []string{"type", "command", "url", "enabled"} {
		if m, ok := v.Member(key); ok && m.Kind != jsonc.Object {
			return true
		}
	}
	return false
}

// setOpenCode knows OpenCode's settings.
func setOpenCode(d *draft, key string, v jsonc.Value) (string, bool) {
	switch key {
	case "command":
		if v.Kind == jsonc.String {
			return text(&d.Command, v), true
		}
		var words []string
		must := list(&words, v)
		if len(words) > 0 {
			d.Command, d.Args = words[0], words[1:]
		}
		return must, true
	case "environment":
		return pairs(&d.Env, v), true
	case "cwd":
		return text(&d.Dir, v), true
	case "timeout":
		if v.Kind == jsonc.Object {
			return "", true
		}
		return number(&d.Options.StartTimeout, time.Millisecond, v), true
	case "oauth":
		return oauth(d, v), true
	case "args", "env":
		return "", false
	}
	return setCommon(d, key, v)
}
