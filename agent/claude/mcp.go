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
// around is its environment with what its settings say.
func giveServer(env, around launch.Env, spec thread.LaunchSpec) ([]string, launch.Env, thread.MCPReach, error) {
	if spec.MCP == nil {
		return nil, env, thread.MCPReach{}, nil
	}
	server := map[string]any{"type": "stdio", "command": spec.MCP.Command[0], "args": spec.MCP.Command[1:]}
	path, err := launch.WriteFile(spec.StateDir, mcpFile,
		map[string]any{"mcpServers": map[string]any{spec.MCP.Name: server}})
	if err != nil {
		return nil, nil, thread.MCPReach{}, err
	}
	reach := thread.MCPReach{
		Given: true, Live: true, Deferred: searchesTools(around, spec.Model),
		Keeps: "calls of tools that are off are refused; Claude Code goes on showing the model those that it has shown it",
	}
	own := func(arg string) bool { return arg == "--mcp-config" || strings.HasPrefix(arg, "--mcp-config=") }
	if slices.ContainsFunc(spec.Flags.Args, own) {
		reach.Outside = append(reach.Outside, "the thread's own arguments have --mcp-config: Claude Code starts those servers")
	}
	return []string{"--mcp-config", path, "--strict-mcp-config"}, env, reach, nil
}

// ownToolRules are the rules that allow the tools of the server that we give: none of them changes a file.
func ownToolRules(spec thread.LaunchSpec) (allow []any) {
	for _, tool := range thread.MCPOwnTools(spec.Once) {
		allow = append(allow, "mcp__"+spec.MCP.Name+"__"+tool)
	}
	return allow
}

// searchesTools reports whether Claude Code loads the definitions of MCP tools only when its model searches for them. With
// "auto" it depends on how long they are.
func searchesTools(env launch.Env, model string) bool {
	if env.Enabled("CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS") || strings.HasPrefix(model, "claude-3") {
		return false
	}
	switch mode := strings.ToLower(env.Value("ENABLE_TOOL_SEARCH")); mode {
	case "false", "0", "no", "off":
		return false
	default:
		return mode == "auto:0" || !strings.HasPrefix(mode, "auto")
	}
}
