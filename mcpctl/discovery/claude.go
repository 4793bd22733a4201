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
			if !r.places.isProject(m.Key) || m.Value.Kind != jsonc.Object {
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

// isProject reports whether a path is that of the project, or leads to it.
func (p Places) isProject(path string) bool {
	if p.Project == "" || path == "" {
		return false
	}
	if filepath.Clean(path) == filepath.Clean(p.Project) {
		return true
	}
	real, err := filepath.EvalSymlinks(p.Project)
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

// setCommon knows what nearly all formats have.
func setCommon(d *draft, key string, v jsonc.Value) (string, bool) {
	switch key {
	case "type", "transport":
		return text(&d.kind, v), true
	case "command":
		return text(&d.Command, v), true
	case "args":
		return list(&d.Args, v), true
	case "env":
		return pairs(&d.Env, v), true
	case "url":
		return text(&d.URL, v), true
	case "headers":
		return pairs(&d.Headers, v), true
	case "enabled":
		return boolean(&d.enabled, v), true
	case "disabled":
		must := boolean(&d.enabled, v)
		if must == "" {
			*d.enabled = !*d.enabled
		}
		return must, true
	case "description":
		return text(&d.Options.Description, v), true
	}
	return "", false
}

// oauth reads Claude's and OpenCode's settings for signing in.
func oauth(d *draft, v jsonc.Value) string {
	const must = "an object with clientId, callbackPort, authServerMetadataUrl and scopes"
	if v.Kind == jsonc.Bool {
		return ""
	}
	if v.Kind != jsonc.Object {
		return must
	}
	wrong := ""
	for _, m := range v.Members() {
		switch m.Key {
		case "clientId":
			wrong += text(&d.OAuth.ClientID, m.Value)
		case "authServerMetadataUrl":
			wrong += text(&d.OAuth.MetadataURL, m.Value)
		case "callbackPort":
			var port time.Duration
			if wrong += number(&port, 1, m.Value); port > 65535 {
				wrong = must
			}
			d.OAuth.CallbackPort = int(port)
		case "scopes", "scope":
			if m.Value.Kind == jsonc.String {
				s, _ := m.Value.Text()
				d.OAuth.Scopes = fields(s)
			} else {
				wrong += list(&d.OAuth.Scopes, m.Value)
			}
		default:
			d.warn("oauth: %.60q is not known here", m.Key)
		}
	}
	if wrong != "" {
		return must
	}
	return ""
}
