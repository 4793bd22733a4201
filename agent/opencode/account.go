package opencode

import (
	"cmp"
	"strings"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

var _ thread.AccountNamer = (*Agent)(nil)

// Account implements thread.AccountNamer, for the provider of the model that is configured: a key in the configuration
// goes before a login, and that before a variable. Without a model opencode chooses one by what it did last.
func (a *Agent) Account(spec thread.WorldSpec) (string, error) {
	env := launch.Env(spec.Env).Adding(spec.Flags.Env)
	dir := spec.Dir
	if spec.Closed {
		dir = ""
	}
	c, _, err := look(env, dir)
	if err != nil {
		return "", err
	}
	id, _, named := strings.Cut(cmp.Or(modelOf(spec), c.Model), "/")
	if !named {
		return "", nil
	}
	if p := c.Provider[id]; p.Options.Key != "" {
		key, err := fill(env, p.Options.Key, p.keyFolder)
		return thread.AccountName(thread.AccountKey, key), err
	}
	in, err := logins(env)
	if err != nil {
		return "", err
	}
	if l, found := in[id]; found {
		return l.account, nil
	}
	for _, variable := range known[id].keys {
		if key := env.Value(variable); key != "" {
			return thread.AccountName(thread.AccountKey, key), nil
		}
	}
	return "", nil
}
