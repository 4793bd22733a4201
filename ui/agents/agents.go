// Package agents lists the agents that can be started, and welcomes people where there are no threads yet: to the demo
// first.
package agents

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Config is what the feature needs from others.
type Config struct {
	// Demo starts the demo agent, New opens the dialog for a new thread.
	Demo, New func() tea.Cmd
}

// Feature lists the agents.
type Feature struct {
	*host.Host
	cfg     Config
	known   []thread.AgentInfo
	listed  bool // the threads are loaded
	greeted bool // the welcome was shown, or is not needed
}

// New adds the feature to a host.
func New(h *host.Host, cfg Config) *Feature {
	f := &Feature{Host: h, cfg: cfg}
	h.Actions.On(intent.Agents, f.open)
	return f
}

// open lists the agents.
func (f *Feature) open() tea.Cmd {
	f.Dialogs.Push(dialog.NewText("agents", lines(f.known)))
	return f.Load()
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
	if found, _ := installed(f.known); len(found) == 0 && len(f.Threads.All()) == 0 {
		f.Welcome()
	}
}

// Welcome asks what to begin with where there are no threads yet: the demo is first.
func (f *Feature) Welcome() tea.Cmd {
	body := []dialog.Line{
		{Text: "Try the demo: a built-in agent that follows a script. It needs no network, no API key and costs nothing, " +
			"and really reads and edits files here."},
		{},
	}
	found, others := installed(f.known)
	choices := []dialog.Choice{{Label: "Try the demo", Result: host.Do(f.cfg.Demo), Preset: true}}
	if len(found) == 0 {
		body = append(body, dialog.Line{Text: "No coding agents found.", Tok: theme.Warn})
	} else {
		body = append(body, dialog.Line{Text: "or start: " + strings.Join(found, " · ")})
		choices = append(choices, dialog.Choice{Label: "New thread", Result: host.Do(f.cfg.New)})
	}
	if len(others) > 0 {
		body = append(body, dialog.Line{Text: "or install: " + strings.Join(others, " · ")})
		choices = append(choices, dialog.Choice{Label: "How to install", Result: host.Do(f.open)})
	}
	f.Dialogs.Push(dialog.NewAsk("welcome", body, append(choices, dialog.Cancel("Later"))...))
	return nil
}

// Begin returns what there is to begin with where there are no threads yet.
func (f *Feature) Begin() []dialog.Line {
	found, others := installed(f.known)
	key := func(a intent.Action, does string) dialog.Line {
		return dialog.Line{Text: fmt.Sprintf("%-5s  %s", f.Keys.KeyOf(a), does)}
	}
	with := ""
	if len(found) > 0 {
		with = ": " + strings.Join(found, " · ")
	}
	lines := []dialog.Line{
		key(intent.Focus, "Try the demo: no network, no API key"),
		key(intent.New, "New thread"+with),
	}
	if len(others) > 0 {
		lines = append(lines, key(intent.Agents, "Install: "+strings.Join(others, " · ")))
	}
	return append(lines, key(intent.Help, "Keys"), key(intent.Quit, "Quit (agents keep running)"))
}
