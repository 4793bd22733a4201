package tree

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Draw draws the visible rows, scrolled to the selection. current is the thread whose terminal is shown; focus is set
// while the list is focused.
func (t *Tree) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, current thread.ID, focus bool) {
	t.sort()
	t.win.Fit(len(t.rows), b.H, nil)
	if len(t.rows) == 0 {
		c.Print(b, 0, 0, th.Style(theme.Muted), plain.Cut(t.empty(), b.W))
		return
	}
	t.win.Go(t.index[t.selected])
	for i, y := range t.win.Items() {
		r := t.rows[i]
		t.drawRow(c, b.Row(y), th, r, y, current)
		if r.ID == t.selected {
			tok := theme.Selected
			if focus {
				tok = theme.SelectedFocus
			}
			c.Tint(b.Row(y), th.Style(tok))
		}
	}
	t.drawMore(c, b, th)
}

func (t *Tree) empty() string {
	switch {
	case t.filter != "":
		return "No matches"
	case t.archived:
		return "Archive is empty"
	default:
		return "No threads yet"
	}
}

// drawMore shows at the edges how many rows are beyond them.
func (t *Tree) drawMore(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	if above := t.win.Above(); above > 0 {
		c.PrintRight(b, 0, 0, th.Style(theme.Muted), fmt.Sprintf("↑%d", above))
	}
	if below := t.win.Below(); below > 0 {
		c.PrintRight(b, 0, b.H-1, th.Style(theme.Muted), fmt.Sprintf("↓%d", below))
	}
}

// title returns a thread's title in the list, with the end of its name if other visible threads have the same title.
func (t *Tree) title(s *thread.Status) string {
	title := plain.Line(s.DisplayName())
	if t.titles[title] > 1 && s.Title != "" {
		title += " " + s.Name[max(len(s.Name)-4, 0):]
	}
	return title
}

// roomForName is how many cells of a name are needed to recognise it; with less room, only the mark shows that a folder
// is shared.
const roomForName = 8

func (t *Tree) drawRow(c *layout.Canvas, b layout.Box, th *theme.Theme, r Row, y int, current thread.ID) {
	s := t.threads[r.ID]
	look := LookOf(s)
	if t.Lost {
		look = LookOfLost(s)
	}
	muted := th.Style(theme.Muted)
	if y < 9 && b.W >= 24 {
		c.Print(b, 0, 0, muted, string(rune('1'+y)))
	}
	x := 1
	if r.ID == current {
		c.Print(b, x, 0, th.Style(theme.Accent), "▸")
	}
	x = c.Print(b, x+1, 0, muted, r.Guide)
	x = c.Print(b, x, 0, th.Style(look.Style), t.glyph(s, look)) + 1
	right := t.drawRight(c, b, th, s, r, look)
	title := t.title(s)
	with := plain.Line(plain.Few(t.Sharing(s.Thread)))
	asks := s.State.Question != nil && !t.Lost
	if room := right - x - plain.Width(title) - 2; with != "" && (asks || room < len("with ")+roomForName) {
		right = c.PrintRight(layout.Box{X: b.X, Y: b.Y, W: right - 1, H: 1}, 0, 0, muted, "&")
		with = ""
	}
	name := th.Style(theme.Text)
	switch {
	case look.Mark != "" && look.Mark != "R":
		name = th.Style(theme.Strong)
	case s.Outcome.Kind != thread.OutcomeNone || !s.State.State.Live():
		name = muted
	}
	x = c.Print(b, x, 0, name, plain.Cut(title, right-x-1)) + 1
	if asks && right-x > roomForName {
		c.Print(b, x, 0, th.Style(theme.Waiting), plain.Cut(plain.Line(s.State.Question.Line()), right-x-1))
		return
	}
	if with != "" {
		x = c.Print(b, x, 0, muted, plain.Cut("with "+with, right-x-1)) + 1
	}
	if p := t.threads[s.Parent]; p != nil && right-x > 6 {
		if _, shown := t.index[p.ID]; !shown { // in the archive, for example: no tree line leads to it
			c.Print(b, x, 0, muted, plain.Cut("of "+plain.Line(p.DisplayName()), right-x-1))
		}
	}
}

// drawRight draws the right edge and returns the column where it starts.
func (t *Tree) drawRight(c *layout.Canvas, b layout.Box, th *theme.Theme, s *thread.Status, r Row, look Look) int {
	right := b.W
	put := func(tok theme.Token, text string) {
		right = c.PrintRight(layout.Box{X: b.X, Y: b.Y, W: right, H: 1}, 0, 0, th.Style(tok), text) - 1
	}
	if look.Mark != "" {
		put(look.Style, look.Mark)
	}
	if s.Pinned {
		put(theme.Accent, "*")
	}
	if r.Hides > 0 {
		put(theme.Muted, fmt.Sprintf("+%d", r.Hides))
	}
	if s.Queued > 0 {
		put(theme.Accent, fmt.Sprintf("›%d", s.Queued))
	}
	if s.Gauge.Window > 0 && b.W >= 30 && s.Gauge.Share() >= 30 {
		put(bandToken(s.Gauge.Band()), thread.Percent(s.Gauge.Share()))
	}
	return right + 1
}

// bandToken returns the style of a context percentage in a row: muted until it matters.
func bandToken(b thread.Band) theme.Token {
	switch b {
	case thread.BandNormal, thread.BandMasking:
		return theme.Muted
	case thread.BandSummarising:
		return theme.BandSummarising
	default:
		return theme.BandEmergency
	}
}
