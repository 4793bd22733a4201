// Package nameline draws the first line of the pane: the name of its thread, what runs in it and where, and its state at
// the right edge. What does not fit is left out, the least important first; the state is always told.
package nameline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"
)

// Pane is what is told of a pane besides its thread.
type Pane struct {
	Name    string   // the thread's, as the list shows it
	Lost    bool     // the server is gone
	Back    int      // lines that its terminal is scrolled back
	Where   string   // the place in scroll mode
	Title   string   // that its program has set
	Done    string   // the progress that its program reports
	Reading string   // the turn that is read
	Sharing []string // the threads that work in the same folder
	Now     time.Time
}

// Draw draws it.
func Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, s *thread.Status, p Pane) {
	look, text := state(s, p)
	right := c.PrintRight(b, 1, 0, th.Style(look.Style), text)
	x := c.Print(b, 0, 0, th.Style(theme.Strong), plain.Cut(p.Name, max(right-2, 8)))
	gap := "   "
	for _, f := range facts(s, p, right-x) {
		if f.Text = plain.Line(f.Text); f.Text == "" || x+plain.Width(gap+f.Text)+2 > right {
			continue
		}
		x = c.Print(b, x, 0, th.Style(theme.Muted), gap)
		x, gap = c.Print(b, x, 0, th.Style(f.Tok), f.Text), " · "
	}
}

// state returns how the state is drawn, with how long it has lasted where that matters.
func state(s *thread.Status, p Pane) (tree.Look, string) {
	look := tree.LookOf(s)
	if p.Lost {
		look = tree.LookOfLost(s)
	}
	text := look.Glyph + " " + look.Word
	if !p.Lost && s.Outcome.Kind == thread.OutcomeNone && !s.State.Since.IsZero() {
		switch since := p.Now.Sub(s.State.Since); {
		case s.State.State == thread.StateWorking, s.State.State == thread.StateStarting:
			text += " " + thread.Elapsed(since)
		case s.State.State.NeedsPerson():
			text += " " + thread.Age(since)
		}
	}
	if s.Queued > 0 {
		text += fmt.Sprintf(", %d queued", s.Queued)
	}
	return look, text
}

// facts are what is said besides name and state in a room of so many cells, the most important first.
func facts(s *thread.Status, p Pane, room int) []styled.Span {
	var out []styled.Span
	if p.Back > 0 {
		out = append(out, styled.Span{Text: "scrolled back " + plain.Count(p.Back, "line"), Tok: theme.Accent})
	}
	out = append(out, styled.Span{Text: plain.Cut(plain.Line(p.Where), max(room-6, 0)), Tok: theme.Accent},
		styled.Span{Text: p.Done, Tok: theme.Accent}, styled.Span{Text: p.Reading, Tok: theme.Accent})
	if len(p.Sharing) > 0 {
		with := "shared with " + plain.Line(plain.Few(p.Sharing))
		if plain.Width(with)+6 > room {
			with = "shared"
		}
		out = append(out, styled.Span{Text: with, Tok: theme.Warn})
	}
	model := s.Gauge.Model
	if model == "" {
		model = s.Model
	}
	who := s.Agent
	if !strings.EqualFold(model, s.Agent) {
		who = strings.TrimSpace(who + " " + model)
	}
	if plain.Width(plain.Line(who)) > room/2 {
		who = s.Agent
	}
	out = append(out, styled.Span{Text: who, Tok: theme.Muted})
	if s.Worktree.Path != "" {
		out = append(out, styled.Span{Text: "own worktree", Tok: theme.Muted})
	}
	if s.Worktree.Branch != "" {
		out = append(out, styled.Span{Text: "on " + s.Worktree.Branch, Tok: theme.Muted})
	}
	return append(out, styled.Span{Text: plain.Cut(news(p.Title, p.Name, s.Agent, model, who, s.Name), 40), Tok: theme.Muted})
}

// news returns the parts of a program's title that are not told anyway: many programs set their own name.
func news(title string, told ...string) string {
	var parts []string
	for _, part := range strings.Split(plain.Line(title), " · ") {
		if !slices.ContainsFunc(told, func(t string) bool { return strings.EqualFold(strings.TrimSpace(part), plain.Line(t)) }) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " · ")
}
