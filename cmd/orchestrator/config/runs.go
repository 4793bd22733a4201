package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// The tables of how many runs there are at the same time: of an agent, and of an account.
const (
	runsAgents   = "runs.agents"
	runsAccounts = "runs.accounts"
	// runsFallback is the table of what takes the place of an agent or its model.
	runsFallback = "runs.fallback"
)

// setRunsAgents takes over the table by agent.
func setRunsAgents(c *Config, v any, at func(path ...string) string) error {
	return setRunsTable(&c.Runs.Agents, v, runsAgents, "claude = 2", func(name ...string) string { return at(append([]string{"runs", "agents"}, name...)...) })
}

// setRunsAccounts takes over the table by account.
func setRunsAccounts(c *Config, v any, at func(path ...string) string) error {
	return setRunsTable(&c.Runs.Accounts, v, runsAccounts, "login-1a2b3c4d = 2", func(name ...string) string { return at(append([]string{"runs", "accounts"}, name...)...) })
}

// setRunsFallback takes over the table of fallbacks.
func setRunsFallback(c *Config, v any, at func(path ...string) string) error {
	all, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %q must be a table, such as [%[2]s] with claude = \"codex\"", at("runs", "fallback"), runsFallback)
	}
	c.Runs.Fallback = map[string]string{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text, ok := all[name].(string)
		if !ok || text == "" || text == name || text == "model:" {
			errs = append(errs, fmt.Errorf("%s: %q in %q is %v, but must be another agent, or model:NAME", at("runs", "fallback", name), name,
				runsFallback, all[name]))
			continue
		}
		c.Runs.Fallback[name] = text
	}
	return errors.Join(errs...)
}

// setRunsRetries takes over how often a run is tried.
func setRunsRetries(c *Config, v string) error {
	n, err := whole(v, 20)
	if err != nil || n < 1 {
		return errors.New("a number from 1 to 20")
	}
	c.Runs.Retries = int(n)
	return nil
}

// setRunsTable takes over a table of how many runs there are at the same time.
func setRunsTable(limits *map[string]int, v any, key, example string, at func(name ...string) string) error {
	all, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %q must be a table, such as [%s] with %s", at(), key, key, example)
	}
	*limits = map[string]int{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(all)) {
		n, ok := all[name].(int64)
		if !ok || n < 1 || n > 1000 {
			errs = append(errs, fmt.Errorf("%s: %q in %q is %v, but must be a number from 1 to 1000", at(name), name, key, all[name]))
			continue
		}
		(*limits)[name] = int(n)
	}
	return errors.Join(errs...)
}
