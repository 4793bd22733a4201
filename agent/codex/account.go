package codex

import (
	"cmp"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

var _ thread.AccountNamer = (*Agent)(nil)

// Account implements thread.AccountNamer: Codex's own provider has its login, others have a key in a variable.
func (a *Agent) Account(spec thread.WorldSpec) (string, error) {
	env := launch.Env(spec.Env).Adding(spec.Flags.Env)
	c, err := readConfig(env, spec.Flags.Args)
	if err != nil || remoteServer(spec.Flags.Args) {
		return "", err
	}
	if c.provider == "openai" {
		in, err := loginOf(env, c)
		return in.account, err
	}
	provider := table(table(c.all, "model_providers"), c.provider)
	var key string
	if variable := text(provider, "env_key"); variable != "" {
		key = env.Value(variable)
	}
	key = cmp.Or(key, text(provider, "experimental_bearer_token"))
	if needs, _ := provider["requires_openai_auth"].(bool); needs && key == "" {
		in, err := loginOf(env, c)
		return in.account, err
	}
	return thread.AccountName(thread.AccountKey, key), nil
}
