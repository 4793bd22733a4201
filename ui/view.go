package ui

import (
	"fmt"
	"path/filepath"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/gauge"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// View returns the screen, drawn anew only when something on it changed.
func (m *Model) View() tea.View {
	if m.screen.stale {
		m.compose()
	}
	return m.screen.view
}

// ownShape leaves the cursor the shape that the person's terminal gives it: without blinking, Bubble Tea
// encodes it as 0.
const ownShape tea.CursorShape = -1

// compose draws the whole screen.
func (m *Model) compose() {
	s := &m.screen
	s.stale = false
	s.drawn = m.cfg.Clock()
	s.canvas.Reset(s.w, s.h)
	if s.tooSmall() {
		m.drawTooSmall()
	} else {
		b := m.place()
		m.drawSide(b)
		m.drawMain(b)
		m.drawOffer(b.offer)
		m.drawStatus(b.status)
		m.dialogs.Draw(&s.canvas, m.th, m.keys)
	}
	s.view = tea.View{
		Content:     s.canvas.String(),
		AltScreen:   true,
		ReportFocus: true,
		WindowTitle: m.title(),
	}
	if x, y, ok := s.canvas.Cursor(); ok {
		s.view.Cursor = &tea.Cursor{Position: tea.Position{X: x, Y: y}, Shape: ownShape}
	}
	if !m.cfg.NoMouse {
		s.view.MouseMode = tea.MouseModeCellMotion
	}
	if p, ok := m.cfg.Pane.(PaneModes); ok && m.live.focus {
		s.view.KeyboardEnhancements = p.Keyboard()
		if !m.cfg.NoMouse {
			s.view.MouseMode = p.MouseMode()
		}
	}
}

// title is the window's: how many wait comes first, so that it shows in a narrow tab.
func (m *Model) title() string {
	t := "orchestrator · " + plain.Line(filepath.Base(m.cfg.Project))
	if n := m.tree.Counts().Waiting; n > 0 {
		t = fmt.Sprintf("(%d) %s", n, t)
	}
	return t
}

func (m *Model) drawTooSmall() {
	c := &m.screen.canvas
	text := fmt.Sprintf("%d×%d is too small: %d×%d is needed. Agents go on.", m.screen.w, m.screen.h, minWidth, minHeight)
	for y, l := range plain.Wrap(text, max(m.screen.w, 1)) {
		c.Print(c.Bounds(), 0, y, m.th.Style(theme.Warn), l)
	}
}

// border returns the token of a frame's border.
func (m *Model) border(focus bool) theme.Token {
	if focus {
		return theme.BorderFocus
	}
	return theme.Border
}

func (m *Model) span(tok theme.Token, text string) styled.Span {
	return styled.Span{Text: text, Tok: tok}
}

func (m *Model) drawSide(b boxes) {
	if b.side.Empty() {
		return
	}
	c := &m.screen.canvas
	focus := m.screen.area == areaTree && !m.dialogs.Open()
	head := []styled.Span{m.span(theme.Title, "threads")}
	switch {
	case m.tree.Archive():
		head = append(head, m.span(theme.Warn, " archive"))
	case m.tree.Filtered() != "":
		head = append(head, m.span(theme.Accent, " /"+plain.Line(m.tree.Filtered())))
	case m.conn.listed:
		head = append(head, m.span(theme.Muted, fmt.Sprintf(" %d", m.tree.Counts().Threads)))
	}
	c.Frame(b.treeF, m.th, m.border(focus), head)
	c.Frame(b.gaugeF, m.th, m.border(false), []styled.Span{m.span(theme.Title, "context")})
	switch {
	case m.conn.listed:
		m.tree.Draw(c, b.tree, m.th, m.live.shown, focus)
		gauge.Draw(c, b.gauge, m.th, m.tree.Selected())
	case m.conn.late:
		c.Print(b.tree, 1, 0, m.th.Style(theme.Muted), "connecting …")
	}
	if !b.mcpF.Empty() {
		c.Frame(b.mcpF, m.th, m.border(false), []styled.Span{m.span(theme.Title, "mcp")})
		m.mcp.Draw(c, b.mcp, m.th)
	}
}

func (m *Model) drawMain(b boxes) {
	if b.main.Empty() {
		return
	}
	c := &m.screen.canvas
	focus := m.screen.area == areaMain && !m.dialogs.Open()
	s := m.tree.Selected()
	c.Frame(b.main, m.th, m.border(focus), m.head(s, b.main.W-6))
	m.drawTabs(b.main)
	in := b.inner
	if m.views.now != viewTerminal {
		in = in.Shrink(1, 0)
	}
	switch {
	case !m.conn.listed: // nothing is known of what there is
	case s == nil:
		m.drawWelcome(in)
	case m.views.now == viewTimeline && m.views.reading:
		m.views.turn.Draw(c, in, m.th, focus)
	case m.views.now == viewTimeline:
		m.views.timeline.Draw(c, in, m.th, focus)
	case m.views.now == viewContext:
		m.views.detail.Draw(c, in, m.th, s, m.parentOf(s), m.sharing(s.Thread))
	case m.views.now == viewDiff:
		m.views.diff.Draw(c, in, m.th, focus, m.sharing(s.Thread))
	case !running(s):
		m.drawStopped(in, s)
	default:
		if p, ok := m.cfg.Pane.(PaneStill); ok && m.dialogs.Open() && m.live.shown == s.ID {
			p.Still(c, in, m.th.Style(theme.Muted))
		}
		m.drawProblem(in)
	}
}

// drawProblem says why a running thread's terminal is not on show.
func (m *Model) drawProblem(in layout.Box) {
	p, ok := m.cfg.Pane.(PaneProblem)
	if !ok {
		return
	}
	if err := p.Problem(); err != nil {
		m.drawLines(&m.screen.canvas, in.Shrink(2, 1), []dialog.Line{{Text: err.Error(), Tok: theme.Bad}, {},
			{Text: m.keys.KeyOf(intent.Redraw) + "  tries again", Tok: theme.Muted}})
	}
}

func (m *Model) parentOf(s *thread.Status) string {
	if s.Parent == "" {
		return ""
	}
	return m.name(s.Parent)
}

// head is the title of the main pane: name, agent, model, state.
func (m *Model) head(s *thread.Status, w int) []styled.Span {
	if s == nil {
		return []styled.Span{m.span(theme.Title, "orchestrator")}
	}
	look := tree.LookOf(s)
	if m.conn.lost {
		look = tree.LookOfLost(s)
	}
	state := look.Word
	if !m.conn.lost && counts(s.State.State) && s.Outcome.Kind == thread.OutcomeNone && !s.State.Since.IsZero() {
		state += " " + elapsed(m.cfg.Clock().Sub(s.State.Since))
	}
	if s.Queued > 0 {
		state += fmt.Sprintf(", %d queued", s.Queued)
	}
	parts := []styled.Span{m.span(theme.Strong, plain.Cut(plain.Line(s.DisplayName()), max(w-plain.Width(state)-4, 8)))}
	used := plain.Width(parts[0].Text) + plain.Width(state) + 4
	with := ""
	if others := m.sharing(s.Thread); len(others) > 0 {
		with = "with " + plain.Few(others)
	}
	fits := func(extra string) bool { return extra != "" && used+plain.Width(extra)+4 <= w }
	add := func(tok theme.Token, extra string) {
		if extra = plain.Line(extra); fits(extra) {
			parts = append(parts, m.span(theme.Border, " ── "), m.span(tok, extra))
			used += plain.Width(extra) + 4
		}
	}
	add(theme.Title, s.Agent)
	if model := shortModel(s); with == "" || used+plain.Width(plain.Line(model))+plain.Width(plain.Line(with))+8 <= w {
		add(theme.Title, model) // who else works on the files matters more
	}
	add(theme.Warn, with)
	if m.views.reading && m.views.now == viewTimeline && used+12 < w {
		parts = append(parts, m.span(theme.Border, " ── "), m.span(theme.Accent, m.views.turn.Title()))
	}
	return append(parts, m.span(theme.Border, " ── "), m.span(look.Style, state))
}

func shortModel(s *thread.Status) string {
	if s.Gauge.Model != "" {
		return s.Gauge.Model
	}
	return s.Model
}

// elapsed formats how long something takes: 0:42, 12:05, 1:02:03.
func elapsed(d time.Duration) string {
	n := int(max(d, 0) / time.Second)
	if n >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", n/3600, n/60%60, n%60)
	}
	return fmt.Sprintf("%d:%02d", n/60, n%60)
}

// tabAt is where a view's name stands in the bottom edge of the main pane.
type tabAt struct {
	view view
	x, w int
}

func tabs() []tabAt {
	var out []tabAt
	x := 3
	for v := viewTerminal; v < viewCount; v++ {
		w := len(v.String())
		out = append(out, tabAt{v, x, w})
		x += w + 3
	}
	return out
}

func (m *Model) drawTabs(main layout.Box) {
	c := &m.screen.canvas
	edge := main.Row(main.H - 1)
	for _, t := range tabs() {
		tok := theme.Muted
		if t.view == m.views.now {
			tok = theme.Accent
		}
		c.Print(edge, t.x-1, 0, m.th.Style(theme.Border), " ")
		c.Print(edge, t.x, 0, m.th.Style(tok), t.view.String())
		c.Print(edge, t.x+t.w, 0, m.th.Style(theme.Border), " ")
		if t.view < viewCount-1 {
			c.Print(edge, t.x+t.w+1, 0, m.th.Style(theme.Border), "·")
		}
	}
	if m.views.now == viewTerminal && (m.screen.area == areaMain || m.live.wants.back > 0) {
		hint := " " + m.leaveKey() + " leaves the agent "
		if n := m.live.wants.back; n > 0 {
			hint = " scrolled back " + dialog.Count(n, "line") + " "
		}
		if last := tabs()[viewCount-1]; last.x+last.w+plain.Width(hint)+4 <= edge.W {
			c.PrintRight(edge, 2, 0, m.th.Style(theme.Accent), hint)
		}
	}
}

func (m *Model) leaveKey() string {
	for _, b := range m.keys.Bindings(intent.Terminal) {
		if b.Action == intent.Leave {
			return b.Label()
		}
	}
	return ""
}

// drawWelcome fills the main pane while there is no thread.
func (m *Model) drawWelcome(in layout.Box) {
	c := &m.screen.canvas
	lines := []dialog.Line{
		{Text: "No thread yet.", Tok: theme.Strong},
		{},
		{Text: m.keys.KeyOf(intent.New) + "  New thread"},
		{Text: m.keys.KeyOf(intent.Help) + "  Keys"},
		{Text: m.keys.KeyOf(intent.Quit) + "  Quit (agents keep running)"},
		{},
		{Text: "orchestrator " + m.cfg.Version, Tok: theme.Muted},
		{Text: m.cfg.Project, Tok: theme.Muted},
	}
	if m.tree.Archive() {
		lines = []dialog.Line{{Text: "Nothing is archived.", Tok: theme.Muted}}
	}
	m.drawLines(c, in.Shrink(2, 1), lines)
}

func (m *Model) drawLines(c *layout.Canvas, b layout.Box, lines []dialog.Line) {
	y := 0
	for _, l := range lines {
		for _, part := range plain.Wrap(plain.Line(l.Text), max(b.W, 1)) {
			c.Print(b, 0, y, m.th.Style(l.Tok), part)
			y++
		}
	}
}

// drawStopped fills the main pane of a thread whose agent does not run.
func (m *Model) drawStopped(in layout.Box, s *thread.Status) {
	look := tree.LookOf(s)
	lines := []dialog.Line{{Text: look.Glyph + " " + look.Word, Tok: look.Style}}
	if s.Outcome.Reason != "" {
		lines = append(lines, dialog.Line{Text: s.Outcome.Reason})
	}
	if e := s.Execution; e != nil && e.Exit.Reason != "" {
		lines = append(lines, dialog.Line{Text: fmt.Sprintf("%s, code %d", e.Exit.Reason, e.Exit.Code), Tok: theme.Muted})
	}
	for _, e := range s.State.Evidence {
		lines = append(lines, dialog.Line{Text: e.Detail, Tok: theme.Muted})
	}
	lines = append(lines, dialog.Line{})
	if left := unanswered(s.Prompts); len(left) > 0 {
		lines = append(lines, dialog.Line{Text: "Not answered:"})
		lines = append(append(lines, left...), dialog.Line{})
	}
	if s.Resume != nil {
		how, tok := dialog.Proof(s.Resume)
		lines = append(lines, dialog.Line{Text: "Can be resumed: " + how, Tok: tok})
	}
	if s.Archived.IsZero() {
		lines = append(lines, dialog.Line{Text: m.keys.KeyOf(intent.Resume) + "  resumes it, " + m.keys.KeyOf(intent.Focus) + " resumes it and types into it"})
	} else {
		lines = append(lines, dialog.Line{Text: m.keys.KeyOf(intent.Archive) + "  brings it back from the archive"})
	}
	lines = append(lines, dialog.Line{Text: m.keys.KeyOf(intent.NextView) + "  shows what was said and done"}, dialog.Line{Text: m.keys.KeyOf(intent.Why) + "  explains the state"})
	m.drawLines(&m.screen.canvas, in.Shrink(2, 1), lines)
}
