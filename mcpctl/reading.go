package mcpctl

import (
	"encoding/json"
	"slices"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/manifest"
	"orchestrator/mcpctl/trust"
)

// reading is a manifest with the judgement of its tools.
type reading struct {
	manifest manifest.Manifest
	tools    []tool
}

// tool is a tool of a server, with what speaks against showing it.
type tool struct {
	manifest.Tool
	review   trust.Tool
	withheld string // why no agent gets it
}

// withheld says why a tool is withheld by what the person has accepted.
func withheld(t trust.Tool) string {
	switch {
	case !t.Withheld:
		return ""
	case t.State == trust.ToolChanged:
		return "its definition has changed since you accepted it"
	case t.State == trust.ToolNew:
		return "it is new, and the server is from the repository"
	default:
		return t.Problem
	}
}

// allows reports whether the configuration of a server lets a tool through.
func allows(d definition.Definition, tool string) bool {
	if slices.Contains(d.Options.Deny, tool) {
		return false
	}
	return len(d.Options.Allow) == 0 || slices.Contains(d.Options.Allow, tool)
}

// description returns that of a tool.
func description(raw json.RawMessage) string {
	var t struct{ Description string }
	_ = json.Unmarshal(raw, &t) // it was checked
	return t.Description
}
