// Package agents lists the agents that the program knows.
package agents

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"orchestrator/agent"
	"orchestrator/agent/claude"
	"orchestrator/agent/codex"
	"orchestrator/agent/command"
	"orchestrator/agent/demo"
	"orchestrator/agent/dialog"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
	"orchestrator/agent/vterm"
	"orchestrator/agent/world"
	"orchestrator/thread"
	"orchestrator/thread/ground/near"
)

// adapter is an agent that can tell whether it is installed.
type adapter interface {
	thread.Agent
	thread.Detector
}

// All are the known agents, in the order in which they are listed.
type All []adapter

// New returns all adapters. Without a home and a model the demo agent can be listed but not started. exe is this
// program, for hooks and the demo agent.
func New(exe string, environ []string, demoHome, demoModel string) All {
	c := launch.Config{Env: environ, Hook: []string{exe, "hook"}}
	return All{claude.New(c), codex.New(c), gemini.New(c), opencode.New(c),
		command.New(c, claude.Hooks, codex.Hooks, gemini.Hooks, opencode.Hooks),
		demo.New(demo.Config{Program: []string{exe}, Home: demoHome, Model: demoModel})}
}

// Agent implements thread.Agents.
func (a All) Agent(name string) (thread.Agent, error) {
	for _, one := range a {
		if one.Name() == name {
			return one, nil
		}
	}
	return nil, thread.Hint(thread.Kindf(thread.ErrNotFound, "no agent %q", name),
		cmp.Or(thread.Meant(near.Names(name, a.Names()), ""), "there are: "+strings.Join(a.Names(), ", ")))
}

// Known returns the name of the agent if it is known, and otherwise that of the agent for any program.
func (a All) Known(name string) string {
	if _, err := a.Agent(name); err != nil {
		return command.Name
	}
	return name
}

// Names implements thread.Agents.
func (a All) Names() []string {
	var names []string
	for _, one := range a {
		names = append(names, one.Name())
	}
	return names
}

// Detect looks for all agents concurrently; each one runs its program to get the version.
func (a All) Detect(ctx context.Context) []thread.AgentInfo {
	infos := make([]thread.AgentInfo, len(a))
	var wg sync.WaitGroup
	for i, one := range a {
		wg.Go(func() { infos[i] = one.Detect(ctx); infos[i].RunsLines = thread.RunsLines(one) })
	}
	wg.Wait()
	return infos
}

// Local returns patterns of the personal files that an agent looks for at a project's root.
func (a All) Local(name string) []string {
	one, err := a.Agent(name)
	if err != nil {
		return nil
	}
	var patterns []string
	if files, ok := one.(thread.LocalFiles); ok {
		for _, file := range files.LocalFiles() {
			patterns = append(patterns, "/"+file)
		}
	}
	return patterns
}

// TakesServers reports whether an agent takes MCP servers from us.
func (a All) TakesServers(name string) bool {
	one, err := a.Agent(name)
	taker, ok := one.(thread.ServerTaker)
	return err == nil && ok && taker.TakesServers()
}

// Foreign returns the variables by which agents speak to what they start.
func (a All) Foreign() []world.Family {
	var all []world.Family
	for _, one := range a {
		if f, ok := one.(world.Foreigner); ok {
			all = append(all, f.Foreign())
		}
	}
	return all
}

// Rules returns an agent's screen rules.
func (a All) Rules(name string) []agent.Rule {
	for _, one := range a {
		if r, ok := one.(agent.RuleSource); ok && one.Name() == name {
			return r.Rules()
		}
	}
	return nil
}

// Dialogs returns the dialogs of an agent that can be read and answered, none if it has none.
func (a All) Dialogs(name string) []dialog.Form {
	for _, one := range a {
		if s, ok := one.(dialog.Source); ok && one.Name() == name {
			return s.Dialogs()
		}
	}
	return nil
}

// Input returns a function that finds an agent's input on its screen, or nil if there is none.
func (a All) Input(name string) func(*vterm.Terminal) (agent.Input, bool) {
	for _, one := range a {
		if r, ok := one.(agent.InputReader); ok && one.Name() == name {
			return r.Input
		}
	}
	return nil
}
