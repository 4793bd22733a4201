package ui

import (
	"time"

	"orchestrator/thread"
	"orchestrator/ui/gauge"
	"orchestrator/ui/layout"

	tea "charm.land/bubbletea/v2"
)

// What fits where, in cells.
const (
	minWidth, minHeight = 60, 20
	// foldBelow is the width under which the side bar takes the place of the main pane instead of
	// standing beside it.
	foldBelow        = 100
	sideMin, sideMax = 28, 40
	// mcpMin is the height from which the MCP list has a place in the side bar.
	mcpMin = 26
)

// screen is the canvas with what decides whether it is drawn anew.
type screen struct {
	w, h   int
	area   area
	noSide bool // the side bar is folded by hand
	away   bool // the terminal is the shell's

	canvas  layout.Canvas
	view    tea.View
	stale   bool // something on it changed
	soon    bool // a frame is set
	ticking bool // a second is set
	drawn   time.Time
}

func (s *screen) resize(w, h int) {
	s.w, s.h = w, h
	s.stale = true
}

func (s *screen) tooSmall() bool { return s.w < minWidth || s.h < minHeight }

// boxes is where everything stands.
type boxes struct {
	side              layout.Box // with frames; empty when folded away
	tree, gauge, mcp  layout.Box // inside of their frames
	treeF, gaugeF     layout.Box // the frames
	mcpF              layout.Box
	main              layout.Box // the main pane's frame; empty when the side bar takes its place
	inner             layout.Box // inside of it
	offer, status     layout.Box
	narrow, showsTree bool
}

// place computes where everything stands.
func (m *Model) place() boxes {
	s := &m.screen
	var b boxes
	all := layout.Box{W: s.w, H: s.h}
	all, b.status = all.Bottom(1)
	if m.offer() != nil {
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
		rest, b.mcpF = rest.Bottom(min(m.mcp.Height(), 8) + 2)
		b.mcp = b.mcpF.Inset(1).Shrink(1, 0)
	}
	rest, b.gaugeF = rest.Bottom(gauge.Height + 2)
	b.gauge = b.gaugeF.Inset(1).Shrink(1, 0)
	b.treeF = rest
	b.tree = rest.Inset(1)
}

// paneSize is the size of the terminal that agents get, whatever is on show.
func (m *Model) paneSize() (cols, rows int) {
	b := m.paneBox()
	return max(b.W, 20), max(b.H, 5)
}

// paneBox is where the terminal stands, or would where the side bar takes its place.
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

// paneSeen reports whether the terminal of the selected thread is on show, nothing over it.
func (m *Model) paneSeen() bool {
	return m.views.now == viewTerminal && !m.dialogs.Open() && !m.screen.tooSmall() && !m.place().main.Empty()
}

// followPane tells the pane what changed for it.
func (m *Model) followPane(sel *thread.Status) tea.Cmd {
	want, run := thread.ID(""), thread.ExecutionID("")
	if sel != nil && running(sel) && (m.live.settled || m.live.shown == sel.ID) {
		want, run = sel.ID, sel.Execution.ID
	}
	if sel != nil && !m.live.settled && m.live.shown != sel.ID {
		want, run = m.live.shown, m.live.run // the selection still moves
	}
	if want == "" && m.screen.area == areaMain && m.views.now == viewTerminal {
		m.hands.take(m.cfg.Clock())
		m.screen.area = areaTree // what had the keys is gone
		m.screen.stale = true
	}
	if m.cfg.Pane == nil {
		return nil
	}
	var cmd tea.Cmd
	if !m.screen.tooSmall() && m.screen.w > 0 {
		m.cfg.Pane.Place(m.paneBox())
	}
	if want != m.live.shown || run != m.live.run {
		m.live.shown, m.live.run = want, run
		cmd = m.cfg.Pane.Show(want)
		m.screen.stale = true
	}
	m.suspendPane(m.screen.away || !m.paneSeen() || want == "" || sel != nil && want != sel.ID)
	focus := m.screen.area == areaMain && m.views.now == viewTerminal && !m.dialogs.Open() && m.typing == nil && sel != nil && m.live.shown == sel.ID
	if focus != m.live.focus {
		m.live.focus = focus
		m.cfg.Pane.Focus(focus)
	}
	return cmd
}

// wants is what the pane has the chrome do for it.
type wants struct {
	mouse    tea.MouseMode
	keyboard tea.KeyboardEnhancements
	problem  string
	back     int
}

func (m *Model) paneWants() (w wants) {
	if p, ok := m.cfg.Pane.(PaneModes); ok {
		w.mouse, w.keyboard = p.MouseMode(), p.Keyboard()
	}
	if p, ok := m.cfg.Pane.(PaneProblem); ok {
		if err := p.Problem(); err != nil {
			w.problem = err.Error()
		}
	}
	if p, ok := m.cfg.Pane.(PaneBack); ok {
		w.back = p.Back()
	}
	return w
}

// passOn gives the pane a message, and the chrome what that changed.
func (m *Model) passOn(msg tea.Msg) tea.Cmd {
	cmd := m.cfg.Pane.Update(msg)
	if w := m.paneWants(); w != m.live.wants {
		m.live.wants = w
		m.screen.stale = true
	}
	return cmd
}

// suspendPane stops or lets go on the painting of the pane.
func (m *Model) suspendPane(on bool) {
	if m.cfg.Pane != nil && on != m.live.suspend {
		m.live.suspend = on
		m.cfg.Pane.Suspend(on)
	}
}
