package terminal

import (
	"orchestrator/agent/vterm"
	"orchestrator/agent/vterm/input"
	"orchestrator/ui/layout"
	"orchestrator/ui/paint"
)

// ScrollBy scrolls through the history, up if negative. At the end the pane is live again.
func (m *Model) ScrollBy(lines int) {
	if m.link == nil || lines == 0 {
		return
	}
	m.renumber()
	m.link.screen.View(func(t *vterm.Terminal) {
		first := t.FirstLine()
		end := first + uint64(t.History())
		top := end
		if m.scrolled {
			top = min(max(m.top, first), end)
		}
		if lines < 0 {
			top -= min(uint64(-lines), top-first)
		} else {
			top = min(top+uint64(lines), end)
		}
		m.scrolled, m.top = top < end, top
	})
	m.place()
}

// ScrollToEnd shows the live screen.
func (m *Model) ScrollToEnd() {
	m.scrolled = false
	m.place()
}

// Back returns how many lines the pane is scrolled back.
func (m *Model) Back() (lines int) {
	if m.link == nil || !m.scrolled {
		return 0
	}
	m.renumber()
	m.link.screen.View(func(t *vterm.Terminal) {
		first := t.FirstLine()
		lines = int(first + uint64(t.History()) - max(m.top, first))
	})
	return lines
}

// wheel scrolls the history, or sends arrow keys if the program uses the whole screen and has no history.
func (m *Model) wheel(e input.Mouse, modes vterm.Modes) {
	lines, key := wheelLines(e), input.KeyUp
	switch {
	case lines == 0:
		return
	case lines > 0:
		key = input.KeyDown
	}
	if !modes.AltScreen {
		m.ScrollBy(lines)
		return
	}
	if !m.focused {
		return
	}
	var b []byte
	for range layout.WheelLines {
		b = input.AppendKey(b, input.Key{Code: key}, modes)
	}
	m.send(b)
}

// wheelLines returns how many lines the wheel scrolls by, up if negative, 0 if it is another wheel.
func wheelLines(e input.Mouse) int {
	switch e.Button {
	case input.ButtonWheelUp:
		return -layout.WheelLines
	case input.ButtonWheelDown:
		return layout.WheelLines
	default:
		return 0
	}
}

// point returns the position in the terminal under a cell of the pane, clamped to the pane.
func (m *Model) point(e input.Mouse) (p vterm.Point) {
	x, y := min(max(e.X, 0), m.box.W-1), min(max(e.Y, 0), m.box.H-1)
	m.link.screen.View(func(t *vterm.Terminal) {
		first := t.FirstLine()
		top := first + uint64(t.History())
		switch {
		case m.scrolled:
			top = min(max(m.top, first), top)
		case m.watched:
			top += uint64(paint.Hidden(t, m.box.H))
		}
		p = vterm.Point{Line: top + uint64(y), X: x}
	})
	return p
}
