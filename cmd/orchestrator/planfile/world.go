package planfile

import (
	"maps"
	"slices"

	"orchestrator/agent/command"
	"orchestrator/cmd/orchestrator/agents"
	"orchestrator/cmd/orchestrator/config"
	"orchestrator/contextmgr/contract"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// World is what plans meet in a project: the agents that the program knows, and what is configured.
func World(all agents.All, c config.Config, repository bool) plan.World {
	w := plan.World{
		Agents: map[string]plan.Ability{}, Default: c.Agent, Models: c.Runs.Tiers, Apart: repository,
		Checks: slices.Sorted(maps.Keys(c.Checks)), Schemas: &contract.Checker{}, Labels: []string{},
	}
	if w.Checks == nil {
		w.Checks = []string{}
	}
	if w.Models == nil {
		w.Models = work.Models{}
	}
	for _, name := range all.Names() {
		w.Agents[name] = plan.Ability{Program: name == command.Name}
	}
	return w
}
