package opencode

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// callTimeout is how many milliseconds opencode waits for the server: the gateway has limits of its own.
const callTimeout = 600_000

// TakesServers implements thread.ServerTaker.
func (*Agent) TakesServers() bool { return true }

// giveServer adds the one MCP server to the configuration in the environment, and disables all others by their names.
// What is in the environment wins over the files, so that a repository cannot change it. While a repository's files
// configure servers that nobody has accepted, its configuration is not read at all.
func giveServer(env launch.Env, spec thread.LaunchSpec) (launch.Env, thread.MCPReach, error) {
	if spec.MCP == nil {
		return env, thread.MCPReach{}, nil
	}
	content := map[string]json.RawMessage{}
	if own := env.Value("OPENCODE_CONFIG_CONTENT"); own != "" {
		if err := json.Unmarshal(launch.StripComments([]byte(own)), &content); err != nil {
			return nil, thread.MCPReach{}, fmt.Errorf("read OPENCODE_CONFIG_CONTENT: %w", err)
		}
	}
	servers := map[string]any{}
	if own := content["mcp"]; own != nil {
		if err := json.Unmarshal(own, &servers); err != nil {
			return nil, thread.MCPReach{}, fmt.Errorf("read OPENCODE_CONFIG_CONTENT: %w", err)
		}
	}
	for name := range servers {
		table(servers, name)["enabled"] = false
	}
	for _, f := range spec.MCP.Foreign[Name] {
		table(servers, f.Name)["enabled"] = false
	}
	servers[spec.MCP.Name] = map[string]any{
		"type": "local", "command": spec.MCP.Command, "enabled": true, "timeout": callTimeout,
	}
	reach := thread.MCPReach{Given: true, Live: true}
	if spec.MCP.Distrust[Name] {
		env = env.With("OPENCODE_DISABLE_PROJECT_CONFIG", "1")
		reach.Outside = append(reach.Outside,
			"opencode does not read the repository's configuration until you accept the servers in it")
	} else if plugins(spec.Dir) {
		reach.Outside = append(reach.Outside, "plugins in the repository's .opencode folder run when opencode starts")
	}
	var err error
	if content["mcp"], err = json.Marshal(servers); err != nil {
		return nil, thread.MCPReach{}, err
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, thread.MCPReach{}, err
	}
	return env.With("OPENCODE_CONFIG_CONTENT", string(raw)), reach, nil
}

// plugins reports whether a folder has plugins of opencode.
func plugins(dir string) bool {
	for _, name := range []string{"plugin", "plugins"} {
		if entries, err := os.ReadDir(filepath.Join(dir, ".opencode", name)); err == nil && len(entries) > 0 {
			return true
		}
	}
	return false
}
