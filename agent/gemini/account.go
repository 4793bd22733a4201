package gemini

import (
	"path/filepath"
	"strings"

	"orchestrator/agent/launch"
	"orchestrator/agent/world"
	"orchestrator/thread"
)

var _ thread.AccountNamer = (*Agent)(nil)

// Account implements thread.AccountNamer, by the way of signing in that is selected, or that the environment asks for.
func (a *Agent) Account(spec thread.WorldSpec) (string, error) {
	seen, err := look(spec, trustIn(spec) == trustFolder)
	if err != nil {
		return "", err
	}
	key := func(variable string) string { return thread.AccountName(thread.AccountKey, seen.env.Value(variable)) }
	selected := seen.settings.Security.Auth.Selected
	switch {
	case selected == "" && seen.env.Value("GOOGLE_GENAI_USE_GCA") == "true", strings.HasPrefix(selected, "oauth"):
		return signedIn(launch.Env(spec.Env).Adding(spec.Flags.Env))
	case selected == "" && seen.env.Value("GOOGLE_GENAI_USE_VERTEXAI") == "true", selected == "vertex-ai":
		return key("GOOGLE_API_KEY"), nil
	case selected == "", selected == "gemini-api-key", selected == "gateway":
		return key("GEMINI_API_KEY"), nil
	}
	return "", nil
}

// signedIn names the Google account that is signed in.
func signedIn(env launch.Env) (string, error) {
	var accounts struct {
		Active string `json:"active"`
	}
	if _, err := world.ReadJSON(filepath.Join(home(env), "google_accounts.json"), &accounts); err != nil {
		return "", err
	}
	return thread.AccountName(thread.AccountLogin, strings.ToLower(accounts.Active)), nil
}
