package terminal

import (
	tea "charm.land/bubbletea/v2"

	"orchestrator/agent/vterm"
	"orchestrator/agent/vterm/input"
)

// mouse forwards an event if the program wants it, and otherwise scrolls or selects. With shift it is never forwarded.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	e, ok := mouseOf(msg, m.box.X, m.box.Y)
	if !ok || m.link == nil {
		return nil
	}
	inside := e.X >= 0 && e.Y >= 0 && e.X < m.box.W && e.Y < m.box.H
	modes := m.Modes()
	if m.read != nil {
		return m.mouseReading(e, inside)
	}
	if m.focused && !m.dragging && !m.scrolled && e.Mod&input.Shift == 0 && modes.Mouse != vterm.MouseNone {
		if inside {
			m.send(input.AppendMouse(nil, e, modes))
		}
		return nil
	}
	switch {
	case e.Button.Wheel():
		if inside {
			m.wheel(e, modes)
		}
	case e.Button == input.ButtonLeft && e.Action == input.Press && inside:
		m.press(e)
	case m.dragging && e.Action == input.Motion:
		m.drag(e)
	case m.dragging && e.Action == input.Release:
		return m.release(e)
	}
	return nil
}
