package ui

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/frame"
	"orchestrator/ui/gauge"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/nameline"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"
	"orchestrator/ui/views"
)

func drawTooSmall(c *layout.Canvas, th *theme.Theme, w, h int) {
	text := fmt.Sprintf("%d×%d is too small, %d×%d is needed. Agents keep running.", w, h, minWidth, minHeight)
	for y, l := range plain.Wrap(text, max(w, 1)) {
		c.Print(c.Bounds(), 0, y, th.Style(theme.Warn), l)
	}
}

// drawRules draws the rules, with what is shown in the parts below them.
func (m *Model) drawRules(b frame.Boxes) {
	focus := frame.Nothing
	switch {
	case m.dialogs.Open():
	case m.screen.area == areaMain:
		focus = frame.OnPane
	default:
		focus = frame.OnList
	}
	c := &m.screen.canvas
	b.Draw(c, m.th, focus)
	if !b.Pane.Empty() {
		drawTabs(c, m.th, b.Top.Columns(b.Pane), m.views.Now())
	}
	if !b.Side.Empty() {
		frame.Caption(c, m.th, b.Top.Columns(b.Side), listed(m.tree, b.Side.W))
	}
}

// listed returns which threads are listed, if not all.
func listed(t *tree.Tree, w int) []styled.Span {
	switch {
	case t.Archive():
		return []styled.Span{span(theme.Warn, "archive")}
	case t.Filtered() != "":
		n, of, wrong := t.Found()
		tok := theme.Accent
		if wrong != nil {
			tok = theme.Warn
		}
		return []styled.Span{span(tok, "/"+plain.Cut(plain.Line(t.Filtered()), w-18)), span(theme.Muted, fmt.Sprintf("  %d of %d", n, of))}
	default:
		return nil
	}
}

func (m *Model) drawSide(b frame.Boxes) {
	if b.Side.Empty() {
		return
	}
	c := &m.screen.canvas
	focus := m.screen.area == areaTree && !m.dialogs.Open()
	s := m.tree.Selected()
	if m.conn.Listed() {
		m.tree.Draw(c, b.List, m.th, tree.View{Focus: focus, Now: m.cfg.Clock(), Next: m.keys.KeyOf(intent.NextWait),
			Peek: m.keys.KeyOf(intent.Peek), Fold: m.keys.KeyOf(intent.FoldAll)})
	} else if m.conn.Known() {
		c.Print(b.List, 1, 0, m.th.Style(theme.Muted), "Connecting …")
	}
	if s == nil || b.Facts.Empty() {
		return
	}
	name := plain.Cut(m.tree.Called(s), b.Facts.W-8)
	b.Heading(c, m.th, b.Facts, []styled.Span{span(theme.Title, name)})
	_, in := b.Facts.Top(1)
	in = in.Shrink(1, 0)
	top, rest := in.Top(gauge.Rows)
	var more []string
	if said := m.money.Of(s); said != "" {
		more = append(more, said)
	}
	if said := m.money.OfWork(s); said != "" {
		more = append(more, said)
	}
	if sum := m.servers.Panel().Sum(); rest.Empty() && sum != "" {
		more = append(more, sum)
	}
	gauge.Draw(c, top, m.th, s, more...)
	m.servers.Panel().Draw(c, rest, m.th, m.keys.KeyOf(intent.MCP))
}

// drawProblem draws why a running thread's terminal is not shown.
func (m *Model) drawProblem(in layout.Box) {
	p, ok := m.cfg.Pane.(PaneProblem)
	if !ok {
		return
	}
	if err := p.Problem(); err != nil {
		drawLines(&m.screen.canvas, in.Shrink(1, 0), m.th, []dialog.Line{{Text: err.Error(), Tok: theme.Bad}, {},
			{Text: m.keys.KeyOf(intent.Redraw) + "  Retry", Tok: theme.Muted}})
	}
}

func (m *Model) drawMain(b frame.Boxes) {
	_, asked := m.questions.Current()
	m.several.DrawStack(&m.screen.canvas, b, m.th, asked == nil && m.offers.Current() == nil)
	if b.Pane.Empty() {
		return
	}
	c := &m.screen.canvas
	focus := m.screen.area == areaMain && !m.dialogs.Open()
	s := m.tree.Selected()
	in := b.Inner
	if len(b.Parts) > 0 {
		s = drawParts(m, b)
	} else if s != nil {
		drawName(m, b.Title, s)
	}
	switch {
	case !m.conn.Listed(): // the threads are not loaded yet
	case s == nil && tree.Asked(m.tree) != nil:
		m.waves.DrawAsked(c, layout.Box{X: in.X, Y: b.Title.Y, W: in.W, H: in.Y + in.H - b.Title.Y}.Shrink(1, 0), m.th, *tree.Asked(m.tree))
	case s == nil:
		m.drawWelcome(layout.Box{X: in.X, Y: b.Title.Y, W: in.W, H: in.Y + in.H - b.Title.Y})
	case m.views.Now() != views.Terminal:
		if b.Alone {
			in = in.Shrink(1, 0)
		}
		m.views.Draw(c, in, m.th, s, focus)
	case !host.Running(s):
		m.drawStopped(in, s)
	default:
		if p, ok := m.cfg.Pane.(PaneStill); ok && m.pane.suspend && m.follow.Shown() == s.ID {
			p.Still(c, in, m.th.Style(theme.Muted))
		}
		m.drawProblem(in)
	}
}

// drawName draws the first line of the pane.
func drawName(m *Model, b layout.Box, s *thread.Status) {
	p := nameline.Pane{Name: m.tree.Called(s), Lost: m.conn.Lost(), Reading: m.views.Reading(), Sharing: m.tree.Sharing(s.Thread), Now: m.cfg.Clock()}
	if m.views.Now() == views.Terminal {
		p.Title, p.Done = m.pane.request.title, m.pane.request.progress
		p.Back, p.Where = m.pane.request.back, m.scrolling.Where()
	}
	nameline.Draw(&m.screen.canvas, b, m.th, s, p)
}

// drawParts draws what stands with the terminals beside each other, and returns the thread of the current one. Where that
// is read, its line says so.
func drawParts(m *Model, b frame.Boxes) *thread.Status {
	c, s, without := &m.screen.canvas, m.several.Thread(b.At), -1
	if s != nil && (m.scrolling.On() || m.pane.request.back > 0) {
		without = b.At
		drawName(m, b.Title, s)
	}
	m.several.DrawBars(c, b, m.th, m.screen.area == areaMain && !m.dialogs.Open(), without)
	group, ok := m.cfg.Pane.(PaneGroup)
	for i, p := range b.Parts {
		if o := m.several.Thread(i); ok && m.pane.hidden && o != nil && i != b.At {
			group.StillOf(o.ID, c, p.Inner, m.th.Style(theme.Muted))
		}
	}
	return s
}

// drawStrips draws what is offered for the selected thread, or what its agent asks. A row of its own would resize the
// terminal, and the agent would draw its dialog anew: so it stands on rows of the pane that are empty, else on the rule
// below it. Where there is only the list, a question has rows of its own.
func (m *Model) drawStrips(b frame.Boxes) {
	leave := ""
	if m.pane.focus { // the agent is focused
		leave = m.keys.LeaveKey()
	}
	c := &m.screen.canvas
	if _, q := m.questions.Current(); q == nil {
		if m.host.Notices.Now() != nil && b.Notice.Y == b.Edge.Y {
			return // news have all of the rule: an offer can wait
		}
		m.offers.Draw(c, b.Edge.Shrink(1, 0), m.th, leave)
		return
	}
	strip := b.Strip
	if m.pane.lent > 0 && !b.Pane.Empty() {
		strip = b.Lent(m.pane.lent)
	}
	if strip.Empty() {
		m.questions.Draw(c, b.Edge.Shrink(1, 0), m.th, leave)
		return
	}
	b.Heading(c, m.th, strip, []styled.Span{span(theme.Title, "answer without entering")})
	_, rows := strip.Top(1)
	m.questions.DrawRows(c, rows, m.th)
}
