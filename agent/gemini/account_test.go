package gemini_test

import (
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestAccount: who pays by the way of signing in.
func TestAccount(t *testing.T) {
	by := func(kind string) map[string]string {
		return map[string]string{
			"home/.gemini/settings.json":        `{"security":{"auth":{"selectedType":"` + kind + `"}}}`,
			"home/.gemini/google_accounts.json": `{"active":"Me@example.com","old":["other@example.com"]}`,
		}
	}
	const gemini1, google1 = "GEMINI_API_KEY=g-1", "GOOGLE_API_KEY=v-1"
	agenttest.Accounts(t, gemini.New(launch.Config{}), []agenttest.Pays{
		{Name: "nobody"},
		{Name: "key", Env: []string{gemini1, google1}, Kind: thread.AccountKey, Identity: "g-1"},
		{Name: "key that is selected", Files: by("gemini-api-key"), Env: []string{gemini1}, Kind: thread.AccountKey, Identity: "g-1"},
		{Name: "key of a file", Files: map[string]string{"home/.env": gemini1}, Kind: thread.AccountKey, Identity: "g-1"},
		{Name: "signed in", Files: by("oauth-personal"), Env: []string{gemini1}, Kind: thread.AccountLogin, Identity: "me@example.com"},
		{Name: "signed in by a variable", Files: map[string]string{"m/.gemini/google_accounts.json": `{"active":"x@example.com"}`},
			Env: []string{"GOOGLE_GENAI_USE_GCA=true", "GEMINI_CLI_HOME=ROOT/m"}, Kind: thread.AccountLogin, Identity: "x@example.com"},
		{Name: "nobody is signed in", Env: []string{"GOOGLE_GENAI_USE_GCA=true"}},
		{Name: "Vertex AI", Files: by("vertex-ai"), Env: []string{gemini1, google1}, Kind: thread.AccountKey, Identity: "v-1"},
		{Name: "Vertex AI without a key", Files: by("vertex-ai"), Env: []string{gemini1}},
		{Name: "another way", Files: by("cloud-shell"), Env: []string{gemini1}},
		{Name: "broken", Files: map[string]string{"home/.gemini/google_accounts.json": "{"}, Env: []string{"GOOGLE_GENAI_USE_GCA=true"}, Fails: "google_accounts.json"},
	})
}
