package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"orchestrator/thread"
)

const baseAgents, baseProfiles = "context.base.agents", "context.base.profiles"

// setBaseAgents takes over the table of profiles by agent.
func setBaseAgents(c *Config, v any, at func(path ...string) string) error {
	path := []string{"context", "base", "agents"}
	all, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %q must be a table, such as [%s] with claude = \"slim\"", at(path...), baseAgents, baseAgents)
	}
	c.Base.Agents = map[string]string{}
	var errs []error
	for _, agent := range slices.Sorted(maps.Keys(all)) {
		name, ok := all[agent].(string)
		if !ok || name == "" {
			errs = append(errs, fmt.Errorf("%s: %q in %q is %v, but must be the name of a profile in quotes, such as \"slim\"",
				at(append(path, agent)...), agent, baseAgents, all[agent]))
			continue
		}
		c.Base.Agents[agent] = name
	}
	return errors.Join(errs...)
}

// setBaseProfiles takes over the table of the person's own profiles.
func setBaseProfiles(c *Config, v any, at func(path ...string) string) error {
	path := []string{"context", "base", "profiles"}
	all, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %q must be a table, such as [%s.mine] with from = \"slim\"", at(path...), baseProfiles, baseProfiles)
	}
	c.Base.Profiles = map[string]thread.OwnBase{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(all)) {
		own, key, err := ownBase(name, all[name])
		if err != nil {
			where := append(slices.Clip(path), name)
			if key != "" {
				where = append(where, key)
			}
			errs = append(errs, fmt.Errorf("%s: %s.%q: %w", at(where...), baseProfiles, name, err))
			continue
		}
		c.Base.Profiles[name] = own
	}
	return errors.Join(errs...)
}

// ownBase reads a profile. An error is about a key, or about the whole profile.
func ownBase(name string, value any) (own thread.OwnBase, key string, err error) {
	fields, ok := value.(map[string]any)
	if !ok {
		return own, "", errors.New(`must be a table, such as { from = "slim", keep = ["web"] }`)
	}
	if err := thread.CheckBaseName(name); err != nil {
		return own, "", err
	}
	lists := map[string]*[]string{"keep": &own.Keep, "leave_out": &own.LeaveOut}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		v := fields[key]
		switch {
		case key == "from":
			if own.From, ok = v.(string); !ok || !slices.Contains(thread.BaseProfiles(), own.From) {
				return own, key, fmt.Errorf("%q is %v, but must be one of full, slim, read-only, minimal", key, v)
			}
		case lists[key] != nil:
			names, ok := textsOf(v)
			if !ok {
				return own, key, fmt.Errorf("%q is %v, but must be a list of names such as [\"web\", \"Agent\"]", key, v)
			}
			if err := thread.CheckBaseLevers(names); err != nil {
				return own, key, fmt.Errorf("%q: %w", key, err)
			}
			*lists[key] = names
		default:
			return own, key, fmt.Errorf("unknown key %q; known keys: from, keep, leave_out", key)
		}
	}
	if own.From == "" && len(own.LeaveOut) == 0 {
		return own, "", errors.New(`leaves nothing out: set from = "slim" or leave_out`)
	}
	return own, "", nil
}

// checkBases validates that the profiles that are named are there.
func (c *Config) checkBases() error {
	named := map[string]string{"context.base.profile": c.Base.Profile, "context.base.started": c.Base.Started}
	for agent, profile := range c.Base.Agents {
		named[baseAgents+"."+agent] = profile
	}
	for _, p := range c.Profiles {
		named[fmt.Sprintf("%s.%q.base", profilesTable, p.Name)] = p.Base
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(named)) {
		if named[key] == "" {
			continue
		}
		if err := c.Base.CheckProfile(named[key]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", key, err))
		}
	}
	return errors.Join(errs...)
}
