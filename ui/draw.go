package ui

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/frame"
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

// tabAt is the place of a view's name in the rule above the pane.
type tabAt struct {
	view views.View
	x, w int
}

func tabs() []tabAt {
	var out []tabAt
	x := 2
	for v := views.Terminal; v < views.Count; v++ {
		w := len(v.String())
		out = append(out, tabAt{v, x, w})
		x += w + 3
	}
	return out
}

// drawTabs names the views in the rule above the pane.
func drawTabs(c *layout.Canvas, th *theme.Theme, row layout.Box, now views.View) {
	var title []styled.Span
	for _, t := range tabs() {
		if t.view > 0 {
			title = append(title, span(theme.Border, " · "))
		}
		tok := theme.Muted
		if t.view == now {
			tok = theme.Accent
		}
		title = append(title, span(tok, t.view.String()))
	}
	frame.Caption(c, th, row, title)
}

// drawWelcome fills the main pane while there are no threads.
func (m *Model) drawWelcome(in layout.Box) {
	c := &m.screen.canvas
	lines := []dialog.Line{{Text: "No threads yet.", Tok: theme.Strong}, {}}
	lines = append(lines, m.agents.Begin()...)
	lines = append(lines, dialog.Line{},
		dialog.Line{Text: "orchestrator " + m.cfg.Version, Tok: theme.Muted}, dialog.Line{Text: m.cfg.Project, Tok: theme.Muted})
	if m.tree.Archive() {
		lines = []dialog.Line{{Text: "The archive is empty.", Tok: theme.Muted}}
	}
	drawLines(c, in.Shrink(1, 0), m.th, lines)
}

// drawStopped fills the main pane for a thread whose agent is not running.
func (m *Model) drawStopped(in layout.Box, s *thread.Status) {
	if s.Runs() && s.Archived.IsZero() && s.Outcome.Kind == thread.OutcomeNone {
		drawLines(&m.screen.canvas, in.Shrink(1, 0), m.th, runLines(m.keys, s))
		return
	}
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
	drawLines(&m.screen.canvas, in.Shrink(1, 0), m.th, lines)
}

// runLines fill the main pane for a thread between runs: how its newest execution stands, and what follows.
func runLines(keys *intent.Table, s *thread.Status) []dialog.Line {
	look, r := tree.LookOf(s), s.Run
	head := look.Glyph + " " + look.Word + " · " + r.Execution
	if !r.Started.IsZero() && !r.Ended.IsZero() {
		head += " · " + thread.Elapsed(r.Ended.Sub(r.Started))
	}
	if r.ReadOnly {
		head += " · read-only"
	}
	lines := []dialog.Line{{Text: head, Tok: look.Style}}
	if r.Reason != "" {
		lines = append(lines, dialog.Line{Text: r.Reason})
	}
	if r.Do != "" {
		lines = append(lines, dialog.Line{Text: "What you can do: " + r.Do, Tok: theme.Muted})
	}
	if s.Last != "" && !r.Waiting() {
		lines = append(lines, dialog.Line{}, dialog.Line{Text: s.Last, Tok: theme.Muted})
	}
	lines = append(lines, dialog.Line{})
	key := func(a intent.Action, does string) {
		lines = append(lines, dialog.Line{Text: fmt.Sprintf("%-5s  %s", keys.KeyOf(a), does)})
	}
	switch {
	case r.Waiting():
		key(intent.CancelRun, "Cancel it")
	case r.State == "lost":
		key(intent.ResumeRun, "Go on with it")
	case r.State == "failed" && r.Instead == "":
		key(intent.ResumeRun, "Try it again")
		if r.Fallback != "" {
			key(intent.FallbackRun, "Have its fallback "+r.Fallback+" go on")
		}
	}
	if r.Over() {
		key(intent.Focus, "Take it over in its agent's terminal")
		key(intent.Reply, "Ask again: its next run")
	}
	if r.State == "completed" {
		key(intent.Peek, "Peek at the answer")
	}
	key(intent.NextView, "Timeline")
	key(intent.Why, "Explain the state")
	return lines
}
