package ui

import (
	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// do acts on an intent: the innermost that knows it takes it.
func (m *Model) do(in intent.Intent) tea.Cmd {
	if m.dialogs.Open() {
		return m.inDialog(in)
	}
	if m.line != nil {
		return m.inLine(in)
	}
	switch in := in.(type) {
	case intent.Jump:
		m.tree.Jump(in.N)
		return nil
	case intent.Action:
		if cmd, ok := m.inView(in); ok {
			return cmd
		}
		if cmd, ok := m.inTree(in); ok {
			return cmd
		}
		return m.host.Act(in)
	}
	return nil
}

// inDialog gives an intent to the dialog on top and acts on how it ends.
func (m *Model) inDialog(in intent.Intent) tea.Cmd {
	search, _ := m.dialogs.Top().(*dialog.Picker)
	before := ""
	if search != nil {
		before = search.Query()
	}
	switch r := m.dialogs.Handle(in).(type) {
	case nil:
	case host.Do:
		return r()
	default:
		return nil
	}
	if search != nil && search.Query() != before {
		return m.search.Typed(search)
	}
	return nil
}

// inLine takes what is typed into the status line.
func (m *Model) inLine(in intent.Intent) tea.Cmd {
	t := m.line
	switch in {
	case intent.Accept:
		m.line = nil
	case intent.Cancel:
		m.line = nil
		m.typed(t.what, t.was)
		return nil
	case intent.Up:
		m.tree.Move(-1)
		return nil
	case intent.Down:
		m.tree.Move(1)
		return nil
	default:
		t.field.Handle(in)
	}
	m.typed(t.what, t.field.Value())
	return nil
}

// typed applies the line as far as it goes.
func (m *Model) typed(what intent.Action, text string) {
	if what == intent.Filter {
		m.tree.Filter(text)
		return
	}
	m.views.Search(text)
}

// inView acts in the main pane while it has the keys.
func (m *Model) inView(a intent.Action) (tea.Cmd, bool) {
	if m.screen.area != areaMain {
		return nil, false
	}
	if a == intent.Search {
		m.line = &line{what: intent.Search, field: field.New("")}
		return nil, true
	}
	return m.views.Act(a)
}

// inTree moves in the list while it has the keys.
func (m *Model) inTree(a intent.Action) (tea.Cmd, bool) {
	if m.screen.area != areaTree {
		return nil, false
	}
	switch a {
	case intent.Up:
		m.tree.Move(-1)
	case intent.Down:
		m.tree.Move(1)
	case intent.PageUp:
		m.tree.Move(-m.tree.Page())
	case intent.PageDown:
		m.tree.Move(m.tree.Page())
	case intent.First:
		m.tree.Move(-m.tree.Len())
	case intent.Last:
		m.tree.Move(m.tree.Len())
	case intent.Fold:
		m.tree.Fold()
	case intent.Unfold:
		m.tree.Unfold()
	case intent.Focus:
		return m.enter(), true
	case intent.Leave:
		m.tree.Filter("")
		m.tree.ShowArchive(false)
	default:
		return nil, false
	}
	return nil, true
}
