package ui

import (
	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// showPalette offers every command, and every thread to go to.
func (m *Model) showPalette() tea.Cmd {
	var items []dialog.Item
	for _, b := range m.keys.Commands() {
		if scopeApplies(b.Scope, m.scopes()) {
			items = append(items, dialog.Item{Title: b.Says(), Note: b.Label(), Result: host.Do(func() tea.Cmd { return m.do(b.Action) })})
		}
	}
	for _, s := range m.tree.All() {
		id := s.ID
		items = append(items, dialog.Item{Title: "go to " + s.DisplayName(), Note: tree.LookOf(s).Word, Result: host.Do(func() tea.Cmd { return m.visit(thread.Hit{Thread: id}) })})
	}
	m.dialogs.Push(dialog.NewPicker("commands", items))
	return nil
}

func scopeApplies(s intent.Scope, here []intent.Scope) bool {
	for _, h := range here {
		if h == s {
			return true
		}
	}
	return s == intent.Global
}
