package ui

import (
	"fmt"

	"orchestrator/ui/dialog"
	"orchestrator/ui/gauge"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
	"orchestrator/ui/views"
)

func drawTooSmall(c *layout.Canvas, th *theme.Theme, w, h int) {
	text := fmt.Sprintf("%d×%d is too small, %d×%d is needed. Agents keep running.", w, h, minWidth, minHeight)
	for y, l := range plain.Wrap(text, max(w, 1)) {
		c.Print(c.Bounds(), 0, y, th.Style(theme.Warn), l)
	}
}

func (m *Model) drawSide(b boxes) {
	if b.side.Empty() {
		return
	}
	c := &m.screen.canvas
	focus := m.screen.area == areaTree && !m.dialogs.Open()
	head := []styled.Span{span(theme.Title, "threads")}
	switch {
	case m.tree.Archive():
		head = append(head, span(theme.Warn, " archive"))
	case m.tree.Filtered() != "":
		head = append(head, span(theme.Accent, " /"+plain.Line(m.tree.Filtered())))
	case m.conn.Listed():
		head = append(head, span(theme.Muted, fmt.Sprintf(" %d", m.tree.Counts().Threads)))
	}
	c.Frame(b.treeF, m.th, border(focus), head)
	c.Frame(b.gaugeF, m.th, border(false), []styled.Span{span(theme.Title, "context")})
	switch {
	case m.conn.Listed():
		m.tree.Draw(c, b.tree, m.th, m.follow.Shown(), focus)
		gauge.Draw(c, b.gauge, m.th, m.tree.Selected())
	case m.conn.Known():
		c.Print(b.tree, 1, 0, m.th.Style(theme.Muted), "Connecting …")
	}
	if !b.mcpF.Empty() {
		c.Frame(b.mcpF, m.th, border(false), []styled.Span{span(theme.Title, "mcp")})
		m.servers.Panel().Draw(c, b.mcp, m.th)
	}
}

// drawProblem says why a running thread's terminal is not shown.
func (m *Model) drawProblem(in layout.Box) {
	p, ok := m.cfg.Pane.(PaneProblem)
	if !ok {
		return
	}
	if err := p.Problem(); err != nil {
		drawLines(&m.screen.canvas, in.Shrink(2, 1), m.th, []dialog.Line{{Text: err.Error(), Tok: theme.Bad}, {},
			{Text: m.keys.KeyOf(intent.Redraw) + "  Retry", Tok: theme.Muted}})
	}
}

func (m *Model) drawMain(b boxes) {
	if b.main.Empty() {
		return
	}
	c := &m.screen.canvas
	focus := m.screen.area == areaMain && !m.dialogs.Open()
	s := m.tree.Selected()
	c.Frame(b.main, m.th, border(focus), m.head(s, b.main.W-6))
	m.drawTabs(b.main)
	in := b.inner
	if m.views.Now() != views.Terminal {
		in = in.Shrink(1, 0)
	}
	switch {
	case !m.conn.Listed(): // the threads are not loaded yet
	case s == nil:
		m.drawWelcome(in)
	case m.views.Now() != views.Terminal:
		m.views.Draw(c, in, m.th, s, focus)
	case !host.Running(s):
		m.drawStopped(in, s)
	default:
		if p, ok := m.cfg.Pane.(PaneStill); ok && m.dialogs.Open() && m.follow.Shown() == s.ID {
			p.Still(c, in, m.th.Style(theme.Muted))
		}
		m.drawProblem(in)
	}
}

// drawStrips draws what is offered for the selected thread, and what its agent asks. The question stands on the lower
// edge of the pane, or of the list where that is all there is: a line of its own would resize the terminal, and the
// agent would draw its dialog anew.
func (m *Model) drawStrips(b boxes) {
	leave := ""
	if m.pane.focus { // the agent is focused
		leave = m.keys.LeaveKey()
	}
	m.offers.Draw(&m.screen.canvas, b.offer, m.th, leave)
	box := b.main
	if box.Empty() {
		box = b.treeF
	}
	if box.W >= 30 {
		_, edge := box.Bottom(1)
		m.questions.Draw(&m.screen.canvas, edge.Shrink(1, 0), m.th, leave)
	}
}
