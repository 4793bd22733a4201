// Package agents lists the agents that can be started. On the first run without any coding agent it shows what was
// looked for and offers the demo.
package agents

import (
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Feature lists the agents.
type Feature struct {
	*host.Host
	demo    func() tea.Cmd // starts the demo agent
	known   []thread.AgentInfo
	listed  bool // the threads are loaded
	greeted bool // the welcome was shown, or is not needed
}

// New adds the feature to a host.
func New(h *host.Host, demo func() tea.Cmd) *Feature {
	f := &Feature{Host: h, demo: demo}
	h.Actions.On(intent.Agents, func() tea.Cmd {
		h.Dialogs.Push(dialog.NewText("agents", lines(f.known, true)))
		return f.Load()
	})
	return f
}

// Known returns the agents as loaded last.
func (f *Feature) Known() []thread.AgentInfo { return f.known }

// Load loads the agents.
func (f *Feature) Load() tea.Cmd {
	return host.Call(f.Host, host.Quick, api.Agents.On(f.Server, api.None{}),
		func(agents []thread.AgentInfo, err error) tea.Cmd {
			if err != nil {
				return f.Fail("list the agents", err)
			}
			f.known = agents
			f.greet()
			return nil
		})
}

// Listed tells the feature that the threads are loaded.
func (f *Feature) Listed() {
	f.listed = true
	f.greet()
}

// greet shows the welcome on a first run without coding agents.
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
	body = append(body,
		dialog.Line{Text: f.Keys.KeyOf(intent.Agents) + "  List all agents and the places checked", Tok: theme.Muted},
		dialog.Line{}, dialog.Line{Text: "The built-in demo agent needs no installation, API key or network. " +
			"It follows a script, and really reads and edits files."})
	f.Dialogs.Push(dialog.NewAsk("welcome", body,
		dialog.Choice{Label: "Try the demo", Result: host.Do(f.demo), Preset: true}, dialog.Cancel("Later")))
}
