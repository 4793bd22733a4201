package ui

import (
	"fmt"
	"path/filepath"

	"orchestrator/ui/headline"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// ownShape keeps the cursor shape of the user's terminal: Bubble Tea encodes a non-blinking one as 0.
const ownShape tea.CursorShape = -1

// View returns the screen, redrawing it only if something has changed.
func (m *Model) View() tea.View {
	if m.screen.stale {
		m.compose()
	}
	return m.screen.view
}

// compose draws the whole screen.
func (m *Model) compose() {
	s := &m.screen
	s.stale = false
	s.drawn = m.cfg.Clock()
	s.canvas.Reset(s.w, s.h)
	if s.tooSmall() {
		drawTooSmall(&s.canvas, m.th, s.w, s.h)
	} else {
		b := m.place()
		headline.Draw(&s.canvas, b.Head, m.th, headlineOf(m.cfg.Project, m.branch.Name(), m.conn, m.tree.Counts(), m.money.Head()))
		m.drawRules(b)
		m.drawSide(b)
		m.drawMain(b)
		m.drawStrips(b)
		m.drawFoot(b)
		m.dialogs.Draw(&s.canvas, m.th, m.keys)
	}
	if m.cfg.Turn != nil {
		m.cfg.Turn(s.canvas.Spinning())
	}
	s.view = tea.View{
		Content:     s.canvas.String(),
		AltScreen:   true,
		ReportFocus: true,
		WindowTitle: m.cfg.Glyphs.Text(title(m.cfg.Project, m.tree.Counts().Waiting)),
	}
	if x, y, ok := s.canvas.Cursor(); ok {
		s.view.Cursor = &tea.Cursor{Position: tea.Position{X: x, Y: y}, Shape: ownShape}
	}
	if !m.cfg.NoMouse {
		s.view.MouseMode = tea.MouseModeCellMotion
	}
	if p, ok := m.cfg.Pane.(PaneModes); ok && m.pane.focus {
		s.view.KeyboardEnhancements = p.Keyboard()
		if !m.cfg.NoMouse {
			s.view.MouseMode = p.MouseMode()
		}
	}
}

// title returns the window title. The number of waiting threads comes first, to be visible in a narrow tab.
func title(project string, waiting int) string {
	t := "orchestrator · " + plain.Line(filepath.Base(project))
	if waiting > 0 {
		t = fmt.Sprintf("(%d) %s", waiting, t)
	}
	return t
}
