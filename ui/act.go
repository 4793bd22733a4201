package ui

import (
	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// do handles an intent: the innermost component that knows it takes it.
func (m *Model) do(in intent.Intent) tea.Cmd {
	if m.dialogs.Open() {
		return m.inDialog(in)
	}
	if m.statusInput != nil {
		return m.inStatusInput(in)
	}
	if m.scrolling.On() {
		if in == intent.Search || in == intent.SearchBack {
			m.statusInput = &statusInput{what: in.(intent.Action), field: field.New("")}
		}
		if cmd, ok := m.scrolling.Act(in); ok {
			return cmd
		}
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

// inDialog passes an intent to the topmost dialog, and handles the dialog's result.
func (m *Model) inDialog(in intent.Intent) tea.Cmd {
	search, _ := m.dialogs.Top().(*dialog.Picker)
	before := ""
	if search != nil {
		before = search.Query()
	}
	result := m.dialogs.Handle(in)
	if result == nil && search != nil && search.Query() != before {
		return tea.Batch(m.search.Typed(search), m.palette.Typed(search))
	}
	return run(result)
}

// run runs the result of a dialog.
func run(r dialog.Result) tea.Cmd {
	switch r := r.(type) {
	case host.Do:
		return r()
	case host.Stay:
		return r()
	default:
		return nil
	}
}

// inStatusInput handles input in the status line.
func (m *Model) inStatusInput(in intent.Intent) tea.Cmd {
	t := m.statusInput
	switch in {
	case intent.Accept:
		m.statusInput = nil
	case intent.Up, intent.Down:
		if t.what == intent.Filter {
			n := 1
			if in == intent.Up {
				n = -1
			}
			m.tree.Move(n)
		}
		return nil
	case intent.Cancel:
		m.statusInput = nil
		m.typed(t.what, t.was)
		return nil
	default:
		t.field.Handle(in)
	}
	m.typed(t.what, t.field.Value())
	return nil
}

// typed applies the text in the status line so far.
func (m *Model) typed(what intent.Action, text string) {
	if what == intent.Filter {
		m.tree.Filter(text)
		return
	}
	if m.scrolling.On() {
		m.scrolling.Search(text)
		return
	}
	m.views.Search(text)
}

// inView handles an action in the main pane while it is focused.
func (m *Model) inView(a intent.Action) (tea.Cmd, bool) {
	if m.screen.area != areaMain {
		return nil, false
	}
	if a == intent.Search {
		m.statusInput = &statusInput{what: intent.Search, field: field.New("")}
		return nil, true
	}
	return m.views.Act(a)
}

// inTree moves in the list while it is focused.
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
	case intent.FoldAll:
		m.tree.FoldGroup(thread.GroupQuiet)
	case intent.PureTree:
		m.tree.Pure()
	case intent.Density:
		m.tree.Dense()
	case intent.Focus:
		return m.enter(), true
	case intent.Mark:
		m.tree.Mark()
	case intent.Leave:
		if m.tree.Unmark() || m.several.Unzoom() {
			break
		}
		m.tree.Filter("")
		m.tree.ShowArchive(false)
	default:
		return nil, false
	}
	return nil, true
}
