package claude

import (
	"slices"
	"strings"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// mcpFile is the name of our file with the one MCP server, in the state folder.
const mcpFile = "claude-mcp.json"

// TakesServers implements thread.ServerTaker.
func (*Agent) TakesServers() bool { return true }

// giveServer returns the arguments that leave Claude Code exactly one MCP server: those of the person's, the project's
// and the local configuration are not started. The file has no secret.
func giveServer(env launch.Env, spec thread.LaunchSpec) ([]string, launch.Env, thread.MCPReach, error) {
	if spec.MCP == nil {
		return nil, env, thread.MCPReach{}, nil
	}
	server := map[string]any{"type": "stdio", "command": spec.MCP.Command[0], "args": spec.MCP.Command[1:]}
	path, err := launch.WriteFile(spec.StateDir, mcpFile,
		map[string]any{"mcpServers": map[string]any{spec.MCP.Name: server}})
	if err != nil {
		return nil, nil, thread.MCPReach{}, err
	}
	reach := thread.MCPReach{Given: true, Live: true, Deferred: searchesTools(env)}
	own := func(arg string) bool { return arg == "--mcp-config" || strings.HasPrefix(arg, "--mcp-config=") }
	if slices.ContainsFunc(spec.Flags.Args, own) {
		reach.Outside = append(reach.Outside, "the thread's own arguments have --mcp-config: Claude Code starts those servers")
	}
	return []string{"--mcp-config", path, "--strict-mcp-config"}, env, reach, nil
}

// searchesTools reports whether Claude Code loads the definitions of MCP tools only when it needs them.
func searchesTools(env launch.Env) bool {
	switch strings.ToLower(env.Value("ENABLE_TOOL_SEARCH")) {
	case "false", "0", "no", "off":
		return false
	}
	return true
}
