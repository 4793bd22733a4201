package ui

import (
	"orchestrator/ui/gauge"
	"orchestrator/ui/layout"
	"orchestrator/ui/views"
)

// What fits where, in cells.
const (
	// foldBelow is the width below which the side bar replaces the main pane instead of being next to it.
	foldBelow        = 100
	sideMin, sideMax = 28, 40
	// mcpMin is the minimum height for the MCP list in the side bar.
	mcpMin = 26
)

// boxes are the boxes of the parts of the screen.
type boxes struct {
	side              layout.Box // with frames; empty if hidden
	tree, gauge, mcp  layout.Box // inside their frames
	treeF, gaugeF     layout.Box // the frames
	mcpF              layout.Box
	main              layout.Box // the main pane's frame; empty if the side bar replaces it
	inner             layout.Box // inside it
	offer, status     layout.Box
	narrow, showsTree bool
}

// place computes the layout.
func (m *Model) place() boxes {
	s := &m.screen
	var b boxes
	all := layout.Box{W: s.w, H: s.h}
	all, b.status = all.Bottom(1)
	if m.offers.Current() != nil {
		all, b.offer = all.Bottom(1)
	}
	b.narrow = s.w < foldBelow
	b.showsTree = !b.narrow && !s.noSide || (b.narrow || s.noSide) && s.area == areaTree
	switch {
	case !b.showsTree:
		b.main = all
	case b.narrow || s.noSide:
		b.side = all
	default:
		b.side, b.main = all.Left(min(max(s.w*28/100, sideMin), sideMax))
	}
	b.inner = b.main.Inset(1)
	if b.main.Empty() {
		b.inner = layout.Box{}
	}
	m.placeSide(&b)
	return b
}

func (m *Model) placeSide(b *boxes) {
	rest := b.side
	if rest.Empty() {
		return
	}
	if rest.H >= mcpMin {
		rest, b.mcpF = rest.Bottom(min(m.servers.Panel().Height(), 9) + 2)
		b.mcp = b.mcpF.Inset(1).Shrink(1, 0)
	}
	rest, b.gaugeF = rest.Bottom(gauge.Height + 2)
	b.gauge = b.gaugeF.Inset(1).Shrink(1, 0)
	b.treeF = rest
	b.tree = rest.Inset(1)
}

// paneBox returns the box of the terminal, or where it would be if the side bar replaces it.
func (m *Model) paneBox() layout.Box {
	b := m.place()
	if !b.inner.Empty() {
		return b.inner
	}
	all := layout.Box{W: m.screen.w, H: m.screen.h - 1}
	if !b.offer.Empty() {
		all.H--
	}
	return all.Inset(1)
}

// PaneSize returns the size of agents' terminals, whatever is shown.
func (m *Model) PaneSize() (cols, rows int) {
	b := m.paneBox()
	return max(b.W, 20), max(b.H, 5)
}

// paneSeen reports whether the selected thread's terminal is shown and uncovered.
func (m *Model) paneSeen() bool {
	return m.views.Now() == views.Terminal && !m.dialogs.Open() && !m.screen.tooSmall() && !m.place().main.Empty()
}

// Width returns the width of the screen in cells.
func (m *Model) Width() int { return m.screen.w }

// Redraw schedules a redraw of the screen.
func (m *Model) Redraw() { m.screen.stale = true }
