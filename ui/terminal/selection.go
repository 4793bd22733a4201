package terminal

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"orchestrator/agent/vterm"
	"orchestrator/agent/vterm/input"
	"orchestrator/ui/clipboard"
)

// press starts a selection: of characters, with a double click of words, with a triple click of lines.
func (m *Model) press(e input.Mouse) {
	p := m.point(e)
	m.dragging, m.sel = true, nil
	switch m.clicks.add(p, time.Now()) {
	case 2:
		m.link.screen.View(func(t *vterm.Terminal) { s := t.Word(p); m.sel = &s })
	case 3:
		m.link.screen.View(func(t *vterm.Terminal) { s := t.Paragraph(p); m.sel = &s })
	}
	m.place()
}

// drag extends the selection, scrolling at the edges.
func (m *Model) drag(e input.Mouse) {
	switch {
	case e.Y < 0:
		m.ScrollBy(-1)
	case e.Y >= m.box.H:
		m.ScrollBy(1)
	}
	p := m.point(e)
	if m.sel == nil {
		if p == m.clicks.at {
			return
		}
		m.sel = &vterm.Selection{From: m.clicks.at, Block: e.Mod&input.Alt != 0}
	}
	m.sel.To = p
	m.place()
}

// release ends the selection and copies it.
func (m *Model) release(input.Mouse) tea.Cmd {
	m.dragging = false
	return m.Copy()
}

// Selected returns the selected text.
func (m *Model) Selected() (text string) {
	if m.read != nil {
		return m.read.text.Selected()
	}
	if m.link != nil && m.sel != nil {
		m.link.screen.View(func(t *vterm.Terminal) { text = t.SelectedText(*m.sel) })
	}
	return text
}

// Copy copies the selected text to the user's clipboard.
func (m *Model) Copy() tea.Cmd {
	set, what := clipboard.Copy(m.Selected())
	if set == nil {
		return nil
	}
	return tea.Batch(set, func() tea.Msg { return CopiedMsg{What: what} })
}
