package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"orchestrator/agent/claude"
	"orchestrator/agent/codex"
	"orchestrator/agent/command"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
	"orchestrator/thread"
)

// adapter is an agent that can say whether it is installed.
type adapter interface {
	thread.Agent
	Detect(context.Context) thread.AgentInfo
}

// adapters are the agents this program knows, in the order in which people see them.
type adapters []adapter

// newAgents makes the adapters: the one list of agents.
func newAgents(environ []string) (adapters, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	c := launch.Config{Env: environ, Hook: []string{exe, "hook"}}
	return adapters{claude.New(c), codex.New(c), gemini.New(c), opencode.New(c), command.New(c)}, nil
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
