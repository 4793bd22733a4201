package discovery

import (
	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/jsonc"
)

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
