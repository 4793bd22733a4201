package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/work"
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

// capped is a bound of runs: a number, or "off" for none.
func capped(key, about string, field func(*Config) *int) setting {
	return words(key, "", about, func(c *Config, v string) error {
		if v == "off" {
			*field(c) = work.Uncapped
			return nil
		}
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || work.CheckCaps(thread.Caps{Calls: n}) != nil {
			return errors.New("a number of 1 or more, or off")
		}
		*field(c) = n
		return nil
	})
}

// tiersTable is the table of which model a tier is, by agent.
const tiersTable = "tiers"

// setTiers takes over that table.
func setTiers(c *Config, v any, at func(path ...string) string) error {
	const example = `[tiers.claude] with fast = "haiku"`
	all, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %q must be a table, such as %s", at(tiersTable), tiersTable, example)
	}
	c.Runs.Tiers = work.Models{}
	var errs []error
	for _, agent := range slices.Sorted(maps.Keys(all)) {
		models, ok := all[agent].(map[string]any)
		if !ok {
			errs = append(errs, fmt.Errorf("%s: %q in %q must be a table, such as %s", at(tiersTable, agent), agent, tiersTable, example))
			continue
		}
		c.Runs.Tiers[agent] = map[thread.Tier]string{}
		for _, name := range slices.Sorted(maps.Keys(models)) {
			model, ok := models[name].(string)
			err := work.CheckTier(thread.Tier(name))
			switch {
			case err != nil:
				errs = append(errs, fmt.Errorf("%s: %s.%s: %w", at(tiersTable, agent, name), tiersTable, agent, err))
			case !ok || strings.TrimSpace(model) == "" || strings.ContainsRune(model, 0):
				errs = append(errs, fmt.Errorf("%s: %s.%s.%s is %v, but must be the name of a model in quotes", at(tiersTable, agent, name),
					tiersTable, agent, name, models[name]))
			default:
				c.Runs.Tiers[agent][thread.Tier(name)] = model
			}
		}
	}
	return errors.Join(errs...)
}
