package server

import (
	"maps"
	"slices"

	"orchestrator/cmd/orchestrator/config"
	"orchestrator/thread/grant"
	"orchestrator/thread/work"
)

// runBounds is what the runs may be that agents start: of the agent of new threads, and of those that the table of runs
// names.
func runBounds(c config.Config) grant.Bounds {
	agents := slices.Collect(maps.Keys(c.Runs.Agents))
	if c.Agent != "" {
		agents = append(agents, c.Agent)
	}
	return grant.Bounds{
		Agents: agents, Deadline: c.Runs.Deadline, Lost: work.Policy(c.Runs.Lost), Dispose: dispose(c.Runs),
		OnFail: work.OnFail(c.Runs.OnFail), Fallbacks: c.Runs.Fallback,
		Tiers: c.Runs.Tiers, Caps: c.Runs.Caps,
	}
}

func dispose(c config.Runs) work.Disposal {
	if c.Dispose == "keep" {
		return work.DisposeKeep
	}
	return work.Disposal(c.Dispose)
}
