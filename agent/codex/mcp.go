package codex

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// toolTimeout is how many seconds Codex waits for a tool: the gateway has limits of its own, and says what went wrong.
const toolTimeout = 600

// TakesServers implements thread.ServerTaker.
func (*Agent) TakesServers() bool { return true }

// giveServer returns the arguments that leave Codex exactly one MCP server. Codex merges what the command line says into
// its files, so every other server is disabled by its name, and ours is registered under a name that a repository cannot
// add to.
func giveServer(env launch.Env, spec thread.LaunchSpec) ([]string, launch.Env, thread.MCPReach) {
	if spec.MCP == nil {
		return nil, env, thread.MCPReach{}
	}
	servers := map[string]any{}
	for _, f := range spec.MCP.Foreign[Name] {
		servers[f.Name] = switchedOff(f.Remote)
	}
	ours := map[string]any{
		"command": spec.MCP.Command[0], "args": spec.MCP.Command[1:], "tool_timeout_sec": toolTimeout,
	}
	if spec.Once.ReadOnly {
		ours["enabled_tools"] = thread.MCPOwnTools(spec.Once)
	}
	servers[spec.MCP.Registered] = ours
	return []string{"-c", "mcp_servers=" + inline(servers), "-c", "features.mcp_tool_list_changed=true"}, env,
		thread.MCPReach{
			Given: true, Live: true, AtTurn: true,
			Outside: []string{"plugins that are installed in Codex may bring servers of their own"},
		}
}

// switchedOff is a server that is not started, of the kind that the files have it: the two do not mix.
func switchedOff(remote bool) map[string]any {
	if remote {
		return map[string]any{"enabled": false, "url": "http://127.0.0.1:9/"}
	}
	return map[string]any{"enabled": false, "command": "true"}
}

// inline encodes a value as TOML on one line: strings and lists of strings are the same in JSON.
func inline(v any) string {
	table, ok := v.(map[string]any)
	if !ok {
		raw, err := json.Marshal(v)
		if err != nil {
			panic("codex: " + err.Error()) // only strings, numbers and lists of them
		}
		return string(raw)
	}
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(table)) {
		parts = append(parts, inline(key)+"="+inline(table[key]))
	}
	return "{" + strings.Join(parts, ",") + "}"
}
