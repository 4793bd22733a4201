package ui

import (
	"orchestrator/ui/frame"
	"orchestrator/ui/gauge"
	"orchestrator/ui/layout"
	"orchestrator/ui/views"
)

// shape returns what the places of the parts depend on.
func (m *Model) shape() frame.Screen {
	s := &m.screen
	shape := frame.Screen{
		W: s.w, H: s.h, List: s.split.Width(s.w), Whole: s.noSide, Listing: s.area == areaTree,
		Facts: gauge.Rows + serverRows(s.h), Layout: m.several.Layout(), At: m.several.At(), Zoomed: m.several.Zoomed(), Reads: m.views.Now() != views.Terminal,
	}
	if _, q := m.questions.Current(); q != nil {
		shape.Asks = m.questions.Rows(s.w)
	}
	return shape
}

// leastStrip is how many rows a question needs at least: a rule, itself and the keys.
const leastStrip = 3

// serverRows is how many rows name MCP servers on a screen of so many rows.
func serverRows(h int) int { return min(max(h/12-1, 1), 3) }

// place computes the layout.
func (m *Model) place() frame.Boxes { return m.shape().Place() }

// paneBox returns the box of the terminal, or where it would be if the side bar replaces it.
func (m *Model) paneBox() layout.Box { return m.shape().Terminal() }

// PaneSize returns the size of agents' terminals, whatever is shown.
func (m *Model) PaneSize() (cols, rows int) {
	b := m.paneBox()
	return max(b.W, 20), max(b.H, 5)
}

// paneSeen reports whether the selected thread's terminal is shown and uncovered.
func (m *Model) paneSeen() bool {
	return m.views.Now() == views.Terminal && !m.dialogs.Open() && !m.screen.tooSmall() && !m.place().Pane.Empty()
}

// Width returns the width of the screen in cells.
func (m *Model) Width() int { return m.screen.w }

// Redraw schedules a redraw of the screen.
func (m *Model) Redraw() { m.screen.stale = true }
