// Package palette lists every command that is available right now, and every thread to switch to.
package palette

import (
	"slices"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// Config is what the palette needs from the root.
type Config struct {
	// Scopes returns the active scopes, innermost first.
	Scopes func() []intent.Scope
	// Do runs a command as its key would.
	Do func(intent.Action) tea.Cmd
	// Visit selects a thread.
	Visit func(thread.ID) tea.Cmd
}

// Register adds the feature to a host.
func Register(h *host.Host, cfg Config) {
	h.Actions.On(intent.Palette, func() tea.Cmd {
		h.Dialogs.Push(dialog.NewPicker("commands", append(commands(h, cfg), threads(h, cfg)...)))
		return nil
	})
}

func commands(h *host.Host, cfg Config) []dialog.Item {
	here := cfg.Scopes()
	var items []dialog.Item
	for _, b := range h.Keys.Commands() {
		if b.Scope == intent.Global || slices.Contains(here, b.Scope) {
			items = append(items, dialog.Item{Title: b.Description(), Note: b.Label(),
				Result: host.Do(func() tea.Cmd { return cfg.Do(b.Action) })})
		}
	}
	return items
}

func threads(h *host.Host, cfg Config) []dialog.Item {
	var items []dialog.Item
	for _, s := range h.Threads.All() {
		id := s.ID
		items = append(items, dialog.Item{Title: "go to " + s.DisplayName(), Note: tree.LookOf(s).Word,
			Result: host.Do(func() tea.Cmd { return cfg.Visit(id) })})
	}
	return items
}
