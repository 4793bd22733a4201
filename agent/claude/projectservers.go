package claude

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"

	"orchestrator/agent/world"
)

// projectServers returns the names of the MCP servers in the .mcp.json files that Claude Code reads in a folder: its own
// and those of the folders above. As it is left one other server, it starts none of them, and so it need not ask.
func projectServers(dir string) []any {
	var names []any
	for {
		var file struct {
			Servers map[string]json.RawMessage `json:"mcpServers"`
		}
		// One that cannot be read has no servers for Claude Code either.
		if _, err := world.ReadJSON(filepath.Join(dir, ".mcp.json"), &file); err == nil {
			for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
				names = append(names, name)
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return names
		}
		dir = up
	}
}
