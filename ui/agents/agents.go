// Package agents lists the agents that can be started. Who has none is told, once and only where there is no thread
// yet, what was looked for, and is offered the demo.
package agents

import (
	"context"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Server is what the list needs of the server.
type Server interface {
	Agents(context.Context) ([]thread.AgentInfo, error)
}

// Feature knows the agents.
type Feature struct {
	*host.Host
	srv     Server
	demo    func() tea.Cmd // starts it
	known   []thread.AgentInfo
	listed  bool // the threads are known
	greeted bool // the first run was explained, or was none
}

// New adds the feature.
func New(h *host.Host, srv Server, demo func() tea.Cmd) *Feature {
	f := &Feature{Host: h, srv: srv, demo: demo}
	h.On(intent.Agents, func() tea.Cmd {
		h.Dialogs.Push(dialog.NewText("agents", lines(f.known, true)))
		return f.Load()
	})
	return f
}

// Known returns what is known of the agents.
func (f *Feature) Known() []thread.AgentInfo { return f.known }

// Load asks which agents there are.
func (f *Feature) Load() tea.Cmd {
	return host.Call(f.Host, host.Quick, f.srv.Agents, func(agents []thread.AgentInfo, err error) tea.Cmd {
		if err != nil {
			return f.Fail("agents", err)
		}
		f.known = agents
		f.greet()
		return nil
	})
}

// Listed says that the threads are known.
func (f *Feature) Listed() {
	f.listed = true
	f.greet()
}

// greet explains what was looked for when no coding agent is installed, and offers the demo.
func (f *Feature) greet() {
	if f.greeted || !f.listed || len(f.known) == 0 {
		return
	}
	f.greeted = true
	if len(f.Threads.All()) > 0 {
		return
	}
	for _, a := range f.known {
		if a.Found && !builtIn(a.Name) {
			return
		}
	}
	body := []dialog.Line{{Text: "No coding agents found. Checked:"}, {}}
	body = append(body, lines(f.known, false)...)
	body = append(body, dialog.Line{Text: f.Keys.KeyOf(intent.Agents) + "  List all agents and places checked", Tok: theme.Muted},
		dialog.Line{}, dialog.Line{Text: "The built-in demo agent needs no installation, key or network: " +
			"it follows a script that reads and edits files in a thread like any other."})
	f.Dialogs.Push(dialog.NewAsk("welcome", body,
		dialog.Choice{Label: "Try the demo", Result: host.Do(f.demo), Preset: true}, dialog.Cancel("Later")))
}
