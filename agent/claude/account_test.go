package claude_test

import (
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/claude"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestAccount: who pays, in the order in which Claude Code takes its credentials.
func TestAccount(t *testing.T) {
	const state = `{"oauthAccount":{"accountUuid":"acc-1","emailAddress":"me@example.com"}}`
	const token, key, login = "ANTHROPIC_AUTH_TOKEN=tok", "ANTHROPIC_API_KEY=sk-1", "CLAUDE_CODE_OAUTH_TOKEN=oat-1"
	signed := map[string]string{"home/.claude.json": state}
	helper := map[string]string{"home/.claude.json": state, "home/.claude/settings.json": `{"apiKeyHelper":"print-key"}`}
	agenttest.Accounts(t, claude.New(launch.Config{}), []agenttest.Pays{
		{Name: "nobody"},
		{Name: "signed in", Files: signed, Kind: thread.AccountLogin, Identity: "acc-1"},
		{Name: "a moved folder", Files: map[string]string{"c/.claude.json": state, "home/.claude.json": `{}`}, Env: []string{"CLAUDE_CONFIG_DIR=ROOT/c"},
			Kind: thread.AccountLogin, Identity: "acc-1"},
		{Name: "a login's token", Files: signed, Env: []string{login}, Kind: thread.AccountLogin, Identity: "oat-1"},
		{Name: "a command before it", Files: helper, Env: []string{login}},
		{Name: "a command by argument", Files: signed, Args: []string{"--settings", `{"apiKeyHelper":"x"}`}},
		{Name: "a key before a command", Files: helper, Env: []string{login, key}, Kind: thread.AccountKey, Identity: "sk-1"},
		{Name: "a token before a key", Files: helper, Env: []string{login, key, token}, Kind: thread.AccountKey, Identity: "tok"},
		{Name: "a key of the settings", Files: map[string]string{"home/.claude/settings.json": `{"env":{"ANTHROPIC_API_KEY":"sk-2"}}`}, Env: []string{key},
			Kind: thread.AccountKey, Identity: "sk-2"},
		{Name: "a repository's key is not read", Files: map[string]string{"work/.claude/settings.json": `{"env":{"ANTHROPIC_API_KEY":"sk-3"}}`}, Env: []string{key},
			Kind: thread.AccountKey, Identity: "sk-1"},
		{Name: "a cloud", Files: signed, Env: []string{key, "CLAUDE_CODE_USE_BEDROCK=1"}},
		{Name: "broken", Files: map[string]string{"home/.claude.json": "["}, Fails: ".claude.json"},
	})
}
