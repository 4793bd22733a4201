package discovery

import (
	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/jsonc"
)

// readCursor reads .cursor/mcp.json.
func readCursor(r *reader, content []byte) {
	if v, ok := r.parse(content); ok {
		if servers, ok := r.object(v, "mcpServers"); ok {
			r.servers(servers, r.scope, setEditor)
		}
	}
}

// readVSCode reads .vscode/mcp.json.
func readVSCode(r *reader, content []byte) {
	v, ok := r.parse(content)
	if !ok {
		return
	}
	servers, ok := r.object(v, "servers")
	if !ok {
		return
	}
	r.servers(servers, r.scope, setEditor)
	inputs := r.inputs(v)
	for _, d := range r.drafts {
		d.Inputs = inputs
	}
}

// inputs reads the values that a person is asked for.
func (r *reader) inputs(v jsonc.Value) []definition.Input {
	found, ok := v.Member("inputs")
	if !ok || found.Kind == jsonc.Null {
		return nil
	}
	if found.Kind != jsonc.Array {
		r.problems.add(found.Line, "", "inputs must be a list, not a %s", found.Kind)
		return nil
	}
	var out []definition.Input
	for _, item := range found.Items() {
		var in definition.Input
		for _, m := range item.Members() {
			s, _ := m.Value.Text()
			switch m.Key {
			case "id":
				in.ID = s
			case "description":
				in.Description = s
			case "password":
				in.Secret = s == "true"
			}
		}
		if in.ID == "" {
			r.problems.add(item.Line, "", "an input has no id")
			continue
		}
		out = append(out, in)
	}
	return out
}

// setEditor knows the settings of Cursor and VS Code.
func setEditor(d *draft, key string, v jsonc.Value) (string, bool) {
	switch key {
	case "envFile":
		return text(&d.EnvFile, v), true
	case "cwd":
		return text(&d.Dir, v), true
	case "auth", "dev", "gallery", "version", "sandbox", "sandboxEnabled":
		return "", true
	}
	return setCommon(d, key, v)
}
