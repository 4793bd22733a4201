package codex

import "orchestrator/agent/world"

// Foreign implements world.Foreigner.
func (a *Agent) Foreign() world.Family {
	return world.Family{Names: []string{"CODEX", "CODEX_*"}, Keep: []string{
		"CODEX_*HOME", "CODEX_OSS_*", "CODEX_CA_*", "CODEX_*_URL", "CODEX_*_URL_OVERRIDE", "CODEX_*_KEY", "CODEX_*_TOKEN",
		"CODEX_APP_SERVER_LOGIN_*", "CODEX_TUI_*", "CODEX_CONFIG*", "CODEX_ROLLOUT_TRACE_ROOT",
	}}
}
