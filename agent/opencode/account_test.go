package opencode_test

import (
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
	"orchestrator/thread"
)

// TestAccount: who pays for the provider of the model.
func TestAccount(t *testing.T) {
	const auth = "home/.local/share/opencode/auth.json"
	const logins = `{"openai":{"type":"oauth","access":"a","refresh":"r","accountId":"acc-1"},"anthropic":{"type":"api","key":"sk-1"},"x":{"type":"oauth","access":"b"}}`
	signed := map[string]string{auth: logins}
	agenttest.Accounts(t, opencode.New(launch.Config{}), []agenttest.Pays{
		{Name: "no model", Files: signed},
		{Name: "signed in", Files: signed, Model: "openai/m", Env: []string{"OPENAI_API_KEY=k"}, Kind: thread.AccountLogin, Identity: "acc-1"},
		{Name: "an account without a name", Files: signed, Model: "x/m"},
		{Name: "key of the login", Files: signed, Args: []string{"-m", "anthropic/m"}, Env: []string{"ANTHROPIC_API_KEY=k"}, Kind: thread.AccountKey, Identity: "sk-1"},
		{Name: "key of a variable", Model: "anthropic/m", Env: []string{"ANTHROPIC_API_KEY=sk-3"}, Kind: thread.AccountKey, Identity: "sk-3"},
		{Name: "logins of a variable", Files: signed, Model: "anthropic/m", Env: []string{`OPENCODE_AUTH_CONTENT={"anthropic":{"type":"api","key":"sk-2"}}`},
			Kind: thread.AccountKey, Identity: "sk-2"},
		{Name: "key of the configuration", Files: map[string]string{auth: logins,
			"work/opencode.json": `{"model":"anthropic/m","provider":{"anthropic":{"options":{"apiKey":"{env:MINE}"}}}}`},
			Env: []string{"MINE=k2"}, Kind: thread.AccountKey, Identity: "k2"},
		{Name: "key of a file beside it", Files: map[string]string{"home/.config/opencode/k": "k3\n", "work/opencode.json": `{"model":"anthropic/m"}`,
			"home/.config/opencode/opencode.json": `{"provider":{"anthropic":{"options":{"apiKey":"{file:./k}"}}}}`}, Kind: thread.AccountKey, Identity: "k3"},
		{Name: "broken", Files: map[string]string{auth: "{"}, Model: "openai/m", Fails: "auth.json"},
	})
}
