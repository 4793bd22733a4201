package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"orchestrator/agent"
	"orchestrator/agent/claude"
	"orchestrator/agent/codex"
	"orchestrator/agent/command"
	"orchestrator/agent/demo"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
	"orchestrator/agent/vterm"
	"orchestrator/thread"
)

// adapter is an agent that can say whether it is installed.
type adapter interface {
	thread.Agent
	thread.Detector
}

// adapters are the agents this program knows, in the order in which people see them.
type adapters []adapter

// newAgents makes the adapters: the one list of agents. The demo agent is only looked at, not
// started, where its home and its model are not given. exe is this program, for hooks and the demo agent.
func newAgents(exe string, environ []string, demoHome, demoModel string) adapters {
	c := launch.Config{Env: environ, Hook: []string{exe, "hook"}}
	return adapters{claude.New(c), codex.New(c), gemini.New(c), opencode.New(c),
		command.New(c, claude.Hooks, codex.Hooks, gemini.Hooks, opencode.Hooks),
		demo.New(demo.Config{Program: []string{exe}, Home: demoHome, Model: demoModel})}
}

// Agent implements thread.Agents.
func (a adapters) Agent(name string) (thread.Agent, error) {
	for _, one := range a {
		if one.Name() == name {
			return one, nil
		}
	}
	return nil, fmt.Errorf("agent %q: %w; there are %s", name, thread.ErrNotFound, strings.Join(a.Names(), ", "))
}

// known returns an agent that stands for the named one: itself, or any program when it is not known.
func (a adapters) known(name string) string {
	if _, err := a.Agent(name); err != nil {
		return command.Name
	}
	return name
}

// Names implements thread.Agents.
func (a adapters) Names() []string {
	var names []string
	for _, one := range a {
		names = append(names, one.Name())
	}
	return names
}

// Detect asks all agents at once; each starts its program to hear the version.
func (a adapters) Detect(ctx context.Context) []thread.AgentInfo {
	infos := make([]thread.AgentInfo, len(a))
	var wg sync.WaitGroup
	for i, one := range a {
		wg.Go(func() { infos[i] = one.Detect(ctx) })
	}
	wg.Wait()
	return infos
}

// local are patterns of the files that an agent looks for at a project's root and that are the person's own.
func (a adapters) local(name string) []string {
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

// rules finds an agent's screen rules.
func (a adapters) rules(name string) []agent.Rule {
	for _, one := range a {
		if r, ok := one.(agent.Ruler); ok && one.Name() == name {
			return r.Rules()
		}
	}
	return nil
}

// input returns how an agent's input is found on its screen, nil where it cannot be.
func (a adapters) input(name string) func(*vterm.Terminal) (agent.Input, bool) {
	for _, one := range a {
		if r, ok := one.(agent.Inputter); ok && one.Name() == name {
			return r.Input
		}
	}
	return nil
}
