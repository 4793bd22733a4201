package claude

import "orchestrator/agent/world"

// Foreign implements world.Foreigner. Most variables with this prefix are configuration.
func (a *Agent) Foreign() world.Family {
	return world.Family{Names: []string{
		"CLAUDECODE", "CLAUDE_PID", "CLAUDE_EFFORT", "CLAUDE_ENV_FILE", "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_*", "CLAUDE_BG_*",
		"CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_*",
		"CLAUDE_CODE_CHILD_*", "CLAUDE_CODE_PARENT_*", "CLAUDE_CODE_LAUNCHED_*", "CLAUDE_CODE_STARTER_*",
	}}
}
