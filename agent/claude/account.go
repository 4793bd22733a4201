package claude

import (
	"slices"

	"orchestrator/thread"
)

var _ thread.AccountNamer = (*Agent)(nil)

// Account implements thread.AccountNamer, in Claude Code's order: a cloud's own login, a token for requests, a key, a
// command that prints one, a token of a login, the login itself. Who pays is not known of clouds and commands.
func (a *Agent) Account(spec thread.WorldSpec) (string, error) {
	s, err := lookAs(spec)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(append(clouds(), foundry), s.env.Enabled) {
		return "", nil
	}
	for _, variable := range []string{"ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"} {
		if key := s.env.Value(variable); key != "" {
			return thread.AccountName(thread.AccountKey, key), nil
		}
	}
	if s.helper {
		return "", nil
	}
	if token := s.env.Value("CLAUDE_CODE_OAUTH_TOKEN"); token != "" {
		return thread.AccountName(thread.AccountLogin, token), nil
	}
	return thread.AccountName(thread.AccountLogin, s.account), nil
}
