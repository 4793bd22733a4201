package ui

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/prompts"
	"orchestrator/ui/resume"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"
	"orchestrator/ui/views"
)

// border returns the token for a frame's border.
func border(focus bool) theme.Token {
	if focus {
		return theme.BorderFocus
	}
	return theme.Border
}

func span(tok theme.Token, text string) styled.Span {
	return styled.Span{Text: text, Tok: tok}
}

func drawLines(c *layout.Canvas, b layout.Box, th *theme.Theme, lines []dialog.Line) {
	y := 0
	for _, l := range lines {
		for _, part := range plain.Wrap(plain.Line(l.Text), max(b.W, 1)) {
			c.Print(b, 0, y, th.Style(l.Tok), part)
			y++
		}
	}
}

// tabAt is the place of a view's name in the bottom edge of the main pane.
type tabAt struct {
	view views.View
	x, w int
}

func tabs() []tabAt {
	var out []tabAt
	x := 3
	for v := views.Terminal; v < views.Count; v++ {
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
		if t.view == m.views.Now() {
			tok = theme.Accent
		}
		c.Print(edge, t.x-1, 0, m.th.Style(theme.Border), " ")
		c.Print(edge, t.x, 0, m.th.Style(tok), t.view.String())
		c.Print(edge, t.x+t.w, 0, m.th.Style(theme.Border), " ")
		if t.view < views.Count-1 {
			c.Print(edge, t.x+t.w+1, 0, m.th.Style(theme.Border), "·")
		}
	}
	if m.views.Now() == views.Terminal && (m.screen.area == areaMain || m.pane.request.back > 0) {
		hint := " " + m.keys.LeaveKey() + " back to threads "
		if n := m.pane.request.back; n > 0 {
			hint = " scrolled back " + plain.Count(n, "line") + " "
		}
		if last := tabs()[views.Count-1]; last.x+last.w+plain.Width(hint)+4 <= edge.W {
			c.PrintRight(edge, 2, 0, m.th.Style(theme.Accent), hint)
		}
	}
}

// drawWelcome fills the main pane while there are no threads.
func (m *Model) drawWelcome(in layout.Box) {
	c := &m.screen.canvas
	lines := []dialog.Line{
		{Text: "No threads yet.", Tok: theme.Strong},
		{},
		{Text: m.keys.KeyOf(intent.New) + "  New thread"},
		{Text: m.keys.KeyOf(intent.Help) + "  Keys"},
		{Text: m.keys.KeyOf(intent.Quit) + "  Quit (agents keep running)"},
		{},
		{Text: "orchestrator " + m.cfg.Version, Tok: theme.Muted},
		{Text: m.cfg.Project, Tok: theme.Muted},
	}
	if m.tree.Archive() {
		lines = []dialog.Line{{Text: "The archive is empty.", Tok: theme.Muted}}
	}
	drawLines(c, in.Shrink(2, 1), m.th, lines)
}

// drawStopped fills the main pane for a thread whose agent is not running.
func (m *Model) drawStopped(in layout.Box, s *thread.Status) {
	look := tree.LookOf(s)
	lines := []dialog.Line{{Text: look.Glyph + " " + look.Word, Tok: look.Style}}
	if s.Outcome.Reason != "" {
		lines = append(lines, dialog.Line{Text: s.Outcome.Reason})
	}
	if e := s.Execution; e != nil && e.Exit.Reason != "" {
		lines = append(lines, dialog.Line{Tok: theme.Muted,
			Text: fmt.Sprintf("%s, exit code %d", e.Exit.Reason, e.Exit.Code)})
	}
	for _, e := range s.State.Evidence {
		lines = append(lines, dialog.Line{Text: e.Detail, Tok: theme.Muted})
	}
	lines = append(lines, dialog.Line{})
	key := func(a intent.Action, does string) {
		lines = append(lines, dialog.Line{Text: fmt.Sprintf("%-5s  %s", m.keys.KeyOf(a), does)})
	}
	if left := prompts.Unanswered(s.Prompts); len(left) > 0 {
		lines = append(lines, dialog.Line{Text: "Unanswered:"})
		lines = append(append(lines, left...), dialog.Line{})
	}
	if s.Resume != nil {
		how, tok := resume.Proof(s.Resume)
		lines = append(lines, dialog.Line{Text: "Can be resumed: " + how, Tok: tok})
	}
	if s.Archived.IsZero() {
		key(intent.Resume, "Resume")
		key(intent.Focus, "Resume and type")
	} else {
		key(intent.Archive, "Restore from the archive")
	}
	key(intent.NextView, "Timeline")
	key(intent.Why, "Explain the state")
	drawLines(&m.screen.canvas, in.Shrink(2, 1), m.th, lines)
}

func shortModel(s *thread.Status) string {
	if s.Gauge.Model != "" {
		return s.Gauge.Model
	}
	return s.Model
}

// head returns the title of the main pane: name, agent, model, state.
func (m *Model) head(s *thread.Status, w int) []styled.Span {
	if s == nil {
		return []styled.Span{span(theme.Title, "orchestrator")}
	}
	look := tree.LookOf(s)
	if m.conn.Lost() {
		look = tree.LookOfLost(s)
	}
	state := look.Word
	if !m.conn.Lost() && counts(s.State.State) && s.Outcome.Kind == thread.OutcomeNone && !s.State.Since.IsZero() {
		state += " " + plain.Elapsed(m.cfg.Clock().Sub(s.State.Since))
	}
	if s.Queued > 0 {
		state += fmt.Sprintf(", %d queued", s.Queued)
	}
	parts := []styled.Span{span(theme.Strong, plain.Cut(plain.Line(s.DisplayName()), max(w-plain.Width(state)-4, 8)))}
	used := plain.Width(parts[0].Text) + plain.Width(state) + 4
	with := ""
	if others := m.tree.Sharing(s.Thread); len(others) > 0 {
		with = "shared with " + plain.Few(others)
	}
	fits := func(extra string) bool { return extra != "" && used+plain.Width(extra)+4 <= w }
	add := func(tok theme.Token, extra string) {
		if extra = plain.Line(extra); fits(extra) {
			parts = append(parts, span(theme.Border, " ── "), span(tok, extra))
			used += plain.Width(extra) + 4
		}
	}
	add(theme.Title, s.Agent)
	if model := shortModel(s); with == "" || used+plain.Width(plain.Line(model))+plain.Width(plain.Line(with))+8 <= w {
		add(theme.Title, model) // who shares the folder is more important
	}
	add(theme.Warn, with)
	if reading := m.views.Reading(); reading != "" && used+12 < w {
		parts = append(parts, span(theme.Border, " ── "), span(theme.Accent, reading))
	}
	return append(parts, span(theme.Border, " ── "), span(look.Style, state))
}
