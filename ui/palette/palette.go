// Package palette goes to what has a name, and lists every command that is available right now. What is typed to go
// somewhere only shows something: it opens the menu of acts, but does none.
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

// New adds the feature to a host.
func New(h *host.Host, cfg Config) *Feature {
	f := &Feature{Host: h, cfg: cfg}
	h.Actions.On(intent.Go, f.jump)
	h.Actions.On(intent.Palette, func() tea.Cmd {
		h.Dialogs.Push(dialog.NewPicker("commands", append(commands(h, cfg), threads(h, cfg)...)))
		return nil
	})
	return f
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
			Result: host.Do(func() tea.Cmd { return cfg.Visit(thread.Hit{Thread: id}) })})
	}
	return items
}
