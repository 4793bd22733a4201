package graph

import (
	"fmt"
	"strings"
	"time"

	"orchestrator/thread/wave"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// The columns of the list, in cells from the right: the time, and what was used.
const (
	timeWidth = 8
	usedWidth = 15
)

// drawList draws the waves below one another, a node in a line, or in two where there is room.
func (g *Graph) drawList(c *layout.Canvas, b layout.Box, th *theme.Theme, now time.Time) {
	g.lines = 1
	if len(g.waves)+2*len(g.view.Nodes) <= b.H {
		g.lines = 2
	}
	total, on := 0, 0
	for i := range g.waves {
		if i == g.on.col {
			on = total + 1 + g.lines*g.on.row
		}
		total += 1 + g.lines*len(g.waves[i].nodes)
	}
	g.top = window(g.top, on, total, b.H)
	if g.on.row == 0 && g.top == on {
		g.top-- // the first of a wave is shown with the wave's title
	}
	line := 0
	for col := range g.waves {
		n := len(g.waves[col].nodes)
		if line >= g.top+b.H {
			break
		}
		if y := line - g.top; y >= 0 {
			c.PrintSpans(b.Row(y), 0, 0, th, g.title(col))
		}
		for row := max(g.top-line-1, 0) / g.lines; row < n && line+1+g.lines*row < g.top+b.H; row++ {
			at := place{col, row}
			_, box := b.Top(line + 1 + g.lines*row - g.top)
			box, _ = box.Top(g.lines)
			g.drawLine(c, box, th, g.node(at), now)
			g.mark(c, box, th, at)
		}
		line += 1 + g.lines*n
	}
	if g.top > 0 {
		c.PrintRight(b, 0, 0, th.Style(theme.Muted), fmt.Sprintf(" ↑%d", g.top))
	}
	if more := total - g.top - b.H; more > 0 {
		c.PrintRight(b, 0, b.H-1, th.Style(theme.Muted), fmt.Sprintf(" ↓%d", more))
	}
}

// drawLine draws a node in one line, or in two.
func (g *Graph) drawLine(c *layout.Canvas, b layout.Box, th *theme.Theme, n *wave.NodeView, now time.Time) {
	right := b.W
	if b.W >= 40 {
		t := elapsed(g.took(n, now))
		c.Print(b, right-plain.Width(t), 0, th.Style(theme.Muted), t)
		right -= timeWidth
	}
	if b.W >= 62 {
		u := used(n.Usage)
		c.Print(b, right-plain.Width(u), 0, th.Style(theme.Muted), u)
		right -= usedWidth
	}
	name := min(max(b.W/4, 12), 26)
	x := max(g.drawName(c, b, th, n, min(right, 3+name)), 3+name*3/4) + 2
	text, tok := says(n)
	from, who := g.upstream(n, false), Who(*n)
	s := stateOf(*n)
	loud := s <= stalled || s >= stale && s != done
	switch {
	case b.H > 1:
		c.Print(b, 3, 1, th.Style(theme.Muted), strings.TrimSpace(who+"  "+from))
	case !loud && from != "" && s != waits && !n.Gate:
		text, tok = from, theme.Muted
	}
	if loud && !(n.Gate && s == asks) {
		text = strings.TrimSuffix(Word(*n)+": "+text, ": ")
	}
	if b.H == 1 && who != "" && !n.Gate && (!loud || right-x > 70) && right-x > 20 {
		x = max(c.Print(b, x, 0, th.Style(theme.Muted), plain.Cut(who, 22)), x+12) + 2
	}
	c.Print(b, x, 0, th.Style(tok), plain.Cut(text, right-x-1))
}
