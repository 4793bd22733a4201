package agents

import (
	"testing"

	"orchestrator/agent/launch"
	"orchestrator/agent/world"
)

// TestForeign checks that what an agent around us tells what it starts does not reach ours, and that people's
// configuration does.
func TestForeign(t *testing.T) {
	families := New("/x", nil, "", "").Foreign()
	for _, name := range []string{
		"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION",
		"CLAUDE_CODE_EXECPATH", "CLAUDE_PID", "CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID", "CODEX_SANDBOX",
		"CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_CI", "CODEX_MANAGED_BY_NPM", "CODEX_INTERNAL_ORIGINATOR_OVERRIDE", "GEMINI_CLI",
		"GEMINI_CLI_IDE_SERVER_PORT", "OPENCODE", "OPENCODE_PID", "OPENCODE_TERMINAL", "OPENCODE_SESSION_ID",
	} {
		if got := world.Without(launch.Env{name + "=1"}, families); len(got) != 0 {
			t.Errorf("%s stays", name)
		}
	}
	for _, name := range []string{
		"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_OAUTH_TOKEN",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "CLAUDE_CODE_CLIENT_CERT", "ANTHROPIC_API_KEY", "CODEX_HOME", "CODEX_API_KEY",
		"CODEX_OSS_BASE_URL", "CODEX_OSS_PORT", "CODEX_CA_CERTIFICATE", "CODEX_ACCESS_TOKEN", "CODEX_SQLITE_HOME", "GEMINI_API_KEY",
		"GEMINI_MODEL", "GEMINI_CLI_HOME", "GEMINI_CLI_NO_RELAUNCH", "GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
		"GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_CUSTOM_HEADERS", "GEMINI_SANDBOX", "GEMINI_SYSTEM_MD", "OPENCODE_CONFIG",
		"OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT", "OPENCODE_DISABLE_PROJECT_CONFIG", "OPENCODE_PERMISSION",
		"OPENCODE_API_KEY", "OPENCODE_TUI_CONFIG", "OPENCODE_MODELS_URL", "OPENCODE_EXPERIMENTAL", "OPENCODE_SERVER_PASSWORD",
	} {
		if got := world.Without(launch.Env{name + "=1"}, families); len(got) != 1 {
			t.Errorf("%s is taken away", name)
		}
	}
}
