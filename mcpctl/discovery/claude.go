package discovery

import (
	"path/filepath"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/jsonc"
)

// readMCP reads .mcp.json, and our own file, which has the same form. A server of ours with neither a command nor a URL
// changes the options of another one.
func readMCP(r *reader, content []byte) {
	if v, ok := r.parse(content); ok {
		if servers, ok := r.object(v, "mcpServers"); ok {
			r.servers(servers, r.scope, setClaude)
		}
	}
}

// readClaude reads the person's own servers, those for this project first. That Claude has been told to use a server of
// .mcp.json (enabledMcpjsonServers) is an approval of its name only, and not taken over.
func readClaude(r *reader, content []byte) {
	v, ok := r.parse(content)
	if !ok {
		return
	}
	if projects, ok := r.object(v, "projects"); ok {
		for _, m := range projects.Members() {
			if !r.isProject(m.Key) || m.Value.Kind != jsonc.Object {
				continue
			}
			if servers, ok := r.object(m.Value, "mcpServers"); ok {
				r.servers(servers, definition.Local, setClaude)
			}
			r.disabled = append(r.disabled, r.names(m.Value, "disabledMcpServers")...)
			r.mcpjson = append(r.mcpjson, r.names(m.Value, "disabledMcpjsonServers")...)
			break
		}
	}
	if servers, ok := r.object(v, "mcpServers"); ok {
		r.servers(servers, definition.User, setClaude)
	}
}

// isProject reports whether a path is that of the project, or what links in that lead to.
func (r *reader) isProject(path string) bool {
	if r.project == "" || path == "" {
		return false
	}
	if filepath.Clean(path) == filepath.Clean(r.project) {
		return true
	}
	real, err := filepath.EvalSymlinks(r.project)
	return err == nil && filepath.Clean(path) == real
}

// setClaude knows Claude Code's settings and ours.
func setClaude(d *draft, key string, v jsonc.Value) (string, bool) {
	switch key {
	case "headersHelper":
		return text(&d.Helper, v), true
	case "oauth":
		return oauth(d, v), true
	case "timeout":
		return number(&d.Options.CallTimeout, time.Millisecond, v), true
	case "alwaysLoad", "request_timeout_ms", "tools":
		return "", true
	case "cwd":
		return text(&d.Dir, v), true
	}
	if must, known := setOurs(d, key, v); known {
		return must, true
	}
	return setCommon(d, key, v)
}
