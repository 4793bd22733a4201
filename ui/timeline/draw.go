package timeline

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/gauge"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// height returns the height of an entry in rows.
func (r row) height() int {
	if r.kind == rowTurn || r.kind == rowPrompt {
		return 2
	}
	return 1
}

// Draw draws the visible entries, scrolled to the cursor.
func (m *Model) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, focus bool) {
	m.sort()
	if len(m.rows) == 0 {
		text, tok := "No turns yet", theme.Muted
		switch {
		case m.err != "":
			text, tok = "timeline: "+m.err, theme.Bad
		case m.busy:
			text = "…"
		}
		c.Print(b, 0, 0, th.Style(tok), plain.Cut(plain.Line(text), b.W))
		return
	}
	at := m.index()
	m.win.Fit(len(m.rows), b.H, func(i int) int { return m.rows[i].height() })
	if at == m.first() {
		m.win.Go(0) // show the mark at the start with it
	}
	m.win.Go(at)
	for i, y := range m.win.Items() {
		r := m.rows[i]
		box := layout.Box{X: b.X, Y: b.Y + y, W: b.W, H: min(r.height(), b.H-y)}
		m.drawRow(c, box, th, r)
		if i == at {
			tok := theme.Selected
			if focus {
				tok = theme.SelectedFocus
			}
			c.Tint(box.Row(0), th.Style(tok))
		}
	}
	if m.err != "" {
		c.Print(b, 0, b.H-1, th.Style(theme.Bad), plain.Cut(plain.Line(m.err), b.W))
	}
}

func (m *Model) drawRow(c *layout.Canvas, b layout.Box, th *theme.Theme, r row) {
	muted := th.Style(theme.Muted)
	switch r.kind {
	case rowDivider, rowMark:
		text := plain.Line("── " + r.text + " ")
		x := c.Print(b, 0, 0, th.Style(theme.DiffHunk), plain.Cut(text, b.W))
		if x < b.W {
			c.Print(b, x, 0, th.Style(theme.Border), strings.Repeat("─", b.W-x))
		}
	case rowResponse:
		right := c.PrintRight(b, 0, 0, muted, numbers(r.cp.Usage))
		x := c.Print(b, 4, 0, muted, "· "+r.cp.Created.Local().Format("15:04:05")+" ")
		c.Print(b, x, 0, muted, plain.Cut(answer(r.cp), right-x-1))
	case rowPrompt:
		right := c.PrintRight(b, 0, 0, muted, r.cp.Created.Local().Format("15:04"))
		c.Print(b, 4, 0, muted, plain.Cut(plain.First(r.cp.Prompt), right-5))
		x := c.Print(b, 4, 1, th.Style(ending(r.cp.Ended)), string(r.cp.Ended)+" · ")
		c.Print(b, x, 1, muted, plain.Cut(plain.Line(r.cp.Note), b.W-x))
	default:
		x := c.Print(b, 0, 0, th.Style(theme.Accent), fmt.Sprintf("%3d ", r.cp.Turn))
		if r.cp.Damaged { // nothing else is known of it
			c.Print(b, x, 0, muted, plain.Cut("(no prompt)", b.W-x))
			x = c.Print(b, x, 1, th.Style(theme.Bad), "damaged · ")
			c.Print(b, x, 1, muted, plain.Cut("its stored data cannot be read", b.W-x))
			return
		}
		right := m.drawFacts(c, b, th, r)
		prompt := plain.First(r.cp.Prompt)
		if prompt == "" {
			prompt = "(no prompt)"
		}
		tok := theme.Strong
		if r.cp.Rewound {
			tok = theme.Muted
		}
		c.Print(b, x, 0, th.Style(tok), plain.Cut(prompt, right-x-1))
		x = 4
		if r.cp.Rewound {
			x = c.Print(b, x, 1, th.Style(theme.Warn), "rewound · ")
		}
		if m.mark != nil && m.mark.ID == r.cp.ID {
			x = c.Print(b, x, 1, th.Style(theme.Accent), "◂ compare ")
		}
		if r.cp.Kind != thread.KindTurn {
			x = c.Print(b, x, 1, th.Style(theme.Working), "◐ ")
		}
		if r.cp.Interrupted {
			x = c.Print(b, x, 1, th.Style(theme.Warn), "cut off ")
		}
		if r.cp.Note == thread.NoteRebuilt {
			x = c.Print(b, x, 1, th.Style(theme.Warn), plain.Cut(thread.NoteRebuilt+": ", b.W-x))
		}
		c.Print(b, x, 1, muted, plain.Cut(answer(r.cp), b.W-x))
	}
}

// ending returns the colour of how a prompt ended.
func ending(s thread.PromptState) theme.Token {
	if s.Again() {
		return theme.Warn
	}
	return theme.Muted
}

func answer(cp thread.Checkpoint) string {
	if a := plain.First(cp.Answer); a != "" {
		return a
	}
	if cp.Stop == "tool_use" {
		return "(tool calls)"
	}
	return "(no text)"
}

// numbers formats a response's tokens and cost.
func numbers(u thread.Usage) string {
	s := thread.Tokens(u.Input+u.CacheRead+u.CacheWrite) + " in " + thread.Tokens(u.Output) + " out"
	if u.Priced {
		s += " " + gauge.Cost(u.CostUSD)
	}
	return s
}

// drawFacts draws a turn's numbers at the right edge, as many as leave half of the row for the prompt, and returns
// where they start.
func (m *Model) drawFacts(c *layout.Canvas, b layout.Box, th *theme.Theme, r row) int {
	right := b.W
	put := func(tok theme.Token, text string) bool {
		if text == "" || right-plain.Width(text)-1 < b.W*2/5 {
			return text == ""
		}
		right = c.PrintRight(layout.Box{X: b.X, Y: b.Y, W: right, H: 1}, 0, 0, th.Style(tok), text) - 1
		return true
	}
	files, added, removed := "", "", ""
	if s := r.cp.Snapshot; s != nil && s.Files > 0 {
		files = fmt.Sprintf("%df", s.Files)
		added, removed = fmt.Sprintf("+%d", s.Insertions), fmt.Sprintf("−%d", s.Deletions)
	}
	_ = put(theme.Muted, r.cp.Created.Local().Format("15:04")) &&
		(files == "" || put(theme.Muted, files) && put(theme.DiffDel, removed) && put(theme.DiffAdd, added)) &&
		put(theme.Muted, cost(r.usage)) &&
		put(gauge.Token(r.cp.Gauge.Band()), share(r.cp.Gauge)) &&
		put(theme.Muted, thread.Tokens(r.usage.Output)+" out") &&
		put(theme.Muted, fold(r))
	return right + 1
}

func cost(u thread.Usage) string {
	if !u.Priced {
		return ""
	}
	return gauge.Cost(u.CostUSD)
}

func share(g thread.Gauge) string {
	if g.Tokens == 0 {
		return ""
	}
	return gauge.Numbers(g)
}

func fold(r row) string {
	if r.responses < 2 {
		return ""
	}
	return fmt.Sprintf("%d×", r.responses)
}
