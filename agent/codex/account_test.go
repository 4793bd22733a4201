package codex_test

import (
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/codex"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestAccount: who pays by auth.json, and by the provider's own key.
func TestAccount(t *testing.T) {
	const chatGPT = `{"OPENAI_API_KEY":null,"tokens":{"access_token":"a","refresh_token":"r","account_id":"acc-1"}}`
	const provider = "model_provider = \"corp\"\n[model_providers.corp]\nbase_url = \"http://corp.example/v1\"\n"
	agenttest.Accounts(t, codex.New(launch.Config{}), []agenttest.Pays{
		{Name: "nobody"},
		{Name: "signed in", Files: map[string]string{"home/.codex/auth.json": chatGPT}, Kind: thread.AccountLogin, Identity: "acc-1"},
		{Name: "without an account", Files: map[string]string{"home/.codex/auth.json": `{"auth_mode":"chatgpt","tokens":{"access_token":"a"}}`}},
		{Name: "key", Files: map[string]string{"home/.codex/auth.json": `{"OPENAI_API_KEY":"sk-1"}`}, Kind: thread.AccountKey, Identity: "sk-1"},
		{Name: "key by its mode", Files: map[string]string{"home/.codex/auth.json": `{"auth_mode":"apikey","OPENAI_API_KEY":"sk-1","tokens":{"account_id":"acc-1"}}`},
			Kind: thread.AccountKey, Identity: "sk-1"},
		{Name: "a moved folder", Files: map[string]string{"c/auth.json": chatGPT, "home/.codex/auth.json": `{"OPENAI_API_KEY":"sk-1"}`},
			Env: []string{"CODEX_HOME=ROOT/c"}, Kind: thread.AccountLogin, Identity: "acc-1"},
		{Name: "in the keyring", Files: map[string]string{"home/.codex/config.toml": "cli_auth_credentials_store = \"keyring\"\n"}},
		{Name: "another provider", Files: map[string]string{"home/.codex/auth.json": chatGPT, "home/.codex/config.toml": provider + "env_key = \"CORP\"\n"},
			Env: []string{"CORP=sk-2"}, Kind: thread.AccountKey, Identity: "sk-2"},
		{Name: "another provider with the login", Files: map[string]string{"home/.codex/auth.json": chatGPT,
			"home/.codex/config.toml": provider + "requires_openai_auth = true\n"}, Kind: thread.AccountLogin, Identity: "acc-1"},
		{Name: "on this machine", Files: map[string]string{"home/.codex/auth.json": chatGPT}, Args: []string{"--oss", "--local-provider", "ollama"}},
		{Name: "odd", Files: map[string]string{"home/.codex/auth.json": `{"OPENAI_API_KEY":["x"],"tokens":7}`}},
		{Name: "broken", Files: map[string]string{"home/.codex/auth.json": "{"}, Fails: "auth.json"},
	})
}
