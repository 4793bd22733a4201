package thread

import (
	"context"
	"slices"
	"strings"
)

type environKey struct{}

// WithEnviron has the agents that are started for a call begin with an environment: that of the person who calls,
// instead of the server's, which may be older. It is kept in memory only.
func WithEnviron(ctx context.Context, env []string) context.Context {
	return context.WithValue(ctx, environKey{}, slices.Clone(env))
}

// Environ returns the environment that a call brings, nil for none.
func Environ(ctx context.Context) []string {
	env, _ := ctx.Value(environKey{}).([]string)
	return env
}

// EnvironUse describes with which environment a thread's agent was started.
type EnvironUse struct {
	// Shell is set if it was that of the shell from which the person started it, and not the server's.
	Shell bool `json:"shell"`
	// Differs names the variables that the server has other values of, or none.
	Differs []string `json:"differs,omitempty"`
}

// passing are variables that differ from one command to the next and say nothing about how an agent works.
var passing = []string{"_", "PWD", "OLDPWD", "SHLVL", "COLUMNS", "LINES", "ORCHESTRATOR_SERVER"}

// Differing names the variables that two environments have different values of, in the order of their names.
func Differing(a, b []string) []string {
	values := func(env []string) map[string]string {
		all := map[string]string{}
		for _, kv := range env {
			if key, value, ok := strings.Cut(kv, "="); ok && !slices.Contains(passing, key) {
				all[key] = value
			}
		}
		return all
	}
	of, than := values(a), values(b)
	var names []string
	for key, value := range of {
		if other, ok := than[key]; !ok || other != value {
			names = append(names, key)
		}
	}
	for key := range than {
		if _, ok := of[key]; !ok {
			names = append(names, key)
		}
	}
	slices.Sort(names)
	return names
}

// Lookup returns the value of a variable in an environment, the last one; "" if it is not set.
func Lookup(environ []string, name string) string {
	value := ""
	for _, kv := range environ {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			value = v
		}
	}
	return value
}
