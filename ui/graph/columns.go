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

// drawColumns draws the waves side by side, and the edges between those that stand beside each other.
func (g *Graph) drawColumns(c *layout.Canvas, b layout.Box, th *theme.Theme, now time.Time) {
	f := g.frameOf(b)
	g.lines = f.lines
	g.top = window(g.top, g.on.row, max(len(g.waves[g.on.col].nodes), 1), f.rows)
	for k := range f.n {
		box := layout.Box{X: b.X + k*(f.w+gapWidth), Y: b.Y, W: f.w, H: b.H}
		col := f.from + k
		drawn := g.edges(c, layout.Box{X: box.X - gapWidth, Y: b.Y + 1, W: gapWidth, H: b.H - 1}, th, f, k)
		g.drawColumn(c, box, th, f, col, drawn, now)
	}
	if f.from > 0 {
		c.PrintRight(layout.Box{X: b.X, Y: b.Y, W: f.w, H: 1}, 0, 0, th.Style(theme.Muted), fmt.Sprintf(" ‹%d", f.from))
	}
	if more := len(g.waves) - f.from - f.n; more > 0 {
		last := layout.Box{X: b.X + (f.n-1)*(f.w+gapWidth), Y: b.Y, W: min(f.w+gapWidth, b.W-(f.n-1)*(f.w+gapWidth)), H: 1}
		c.PrintRight(last, 0, 0, th.Style(theme.Muted), fmt.Sprintf(" %d›", more))
	}
}

// offset is the first node in sight of a column: all scroll together, but none beyond its end.
func (g *Graph) offset(f frame, col int) int {
	return max(min(g.top, len(g.waves[col].nodes)-f.rows), 0)
}

func (g *Graph) drawColumn(c *layout.Canvas, b layout.Box, th *theme.Theme, f frame, col int, drawn map[int]bool, now time.Time) {
	c.PrintSpans(b, 0, 0, th, g.title(col))
	_, b = b.Top(1)
	from, n := g.offset(f, col), len(g.waves[col].nodes)
	for i := range min(f.rows, n) {
		at := place{col, from + i}
		box := layout.Box{X: b.X, Y: b.Y + i*f.pitch, W: b.W, H: f.lines}
		g.drawBlock(c, box, th, g.node(at), drawn[at.row], now)
		g.mark(c, box, th, at)
	}
	if n > f.rows {
		c.Print(b, 3, f.rows*f.pitch, th.Style(theme.Muted), fmt.Sprintf("↑%d ↓%d", from, n-f.rows-from))
	}
}

// drawBlock draws a node in a column; drawn says that the edges from the column before it are.
func (g *Graph) drawBlock(c *layout.Canvas, b layout.Box, th *theme.Theme, n *wave.NodeView, drawn bool, now time.Time) {
	s := stateOf(*n)
	loud := s <= stalled || s >= stale && s != done
	right, figures := b.W, used(n.Usage)
	word := elapsed(g.took(n, now))
	if b.H == 1 && loud {
		word = Word(*n)
	} else if b.H == 1 && b.W >= 44 {
		word = fmt.Sprintf("%s%*s", figures, timeWidth, word)
	}
	c.Print(b, right-plain.Width(word), 0, th.Style(theme.Muted), word)
	g.drawName(c, b, th, n, right-1-plain.Width(word))
	if b.H == 1 {
		return
	}
	text, tok := says(n)
	from := g.upstream(n, drawn)
	switch {
	case loud && !(n.Gate && s == asks):
		text = strings.TrimSuffix(Word(*n)+": "+text, ": ")
	case !loud && from != "" && s != waits && !n.Gate:
		text, tok = from, theme.Muted
	}
	y := 1
	if !n.Gate && (b.H > 2 || s == works || s == done || text == "") { // what it says is more important than what works
		x := right - plain.Width(figures)
		c.Print(b, x, 1, th.Style(theme.Muted), figures)
		c.Print(b, 3, 1, th.Style(theme.Muted), plain.Cut(Who(*n), x-4))
		y++
	}
	for _, l := range plain.Wrap(text, max(right-3, 1)) {
		if y == b.H-1 && plain.Width(text) > right-3 {
			l = plain.Cut(text, right-3) // the last line that there is room for
		}
		c.Print(b, 3, y, th.Style(tok), l)
		text = strings.TrimPrefix(strings.TrimPrefix(text, l), " ")
		if y++; y >= b.H {
			return
		}
	}
	if s == waits {
		c.Print(b, 3, y, th.Style(theme.Muted), plain.Cut(from, right-3))
	}
}
