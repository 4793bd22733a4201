package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// runsAgents is the table of how many runs of an agent there are at the same time.
const runsAgents = "runs.agents"

// setRunsAgents takes over that table.
func setRunsAgents(c *Config, v any, at func(path ...string) string) error {
	path := []string{"runs", "agents"}
	all, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %q must be a table, such as [%s] with claude = 2", at(path...), runsAgents, runsAgents)
	}
	c.Runs.Agents = map[string]int{}
	var errs []error
	for _, agent := range slices.Sorted(maps.Keys(all)) {
		n, ok := all[agent].(int64)
		if !ok || n < 1 || n > 1000 {
			errs = append(errs, fmt.Errorf("%s: %q in %q is %v, but must be a number from 1 to 1000",
				at(append(path, agent)...), agent, runsAgents, all[agent]))
			continue
		}
		c.Runs.Agents[agent] = int(n)
	}
	return errors.Join(errs...)
}
