package gemini

import "orchestrator/agent/world"

// Foreign implements world.Foreigner. Most variables with this prefix are configuration.
func (a *Agent) Foreign() world.Family {
	return world.Family{Names: []string{
		"GEMINI_CLI", "GEMINI_CLI_IDE_*", "GEMINI_CLI_SESSION_ID", "GEMINI_CLI_ACTIVITY_*", "GEMINI_SESSION_ID", "GEMINI_CWD",
		"GEMINI_PROJECT_DIR", "GEMINI_PLANS_DIR", "GEMINI_PTY_INFO",
	}}
}
