package context

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/gauge"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// gutter is the width of the labels left of a curve.
const gutter = 6

// tops are the shares of a window, in percent, that a curve can end at: small contexts are not drawn flat.
var tops = [...]int64{5, 10, 20, 30, 45, 60, 75, 90, 100}

// eighths are the fills of a cell from below.
var eighths = [...]string{"", "▁", "▂", "▃", "▄", "▅", "▆", "▇"}

// curve is the size of a context over time.
type curve struct {
	points []thread.ContextPoint
	window int64
}

// top returns the tokens at the upper edge.
func (v curve) top() int64 {
	var highest int64
	for _, p := range v.points {
		highest = max(highest, p.Tokens, p.Tokens+max(p.Masked, 0))
	}
	for _, t := range tops {
		if edge := v.window / 100 * t; edge > 0 && highest <= edge {
			return edge
		}
	}
	return max(highest, 1)
}

// at returns the point in a column of w: the last one of those that share it.
func (v curve) at(x, w int) thread.ContextPoint {
	n := len(v.points)
	if n <= w {
		return v.points[x*n/w]
	}
	return v.points[max((x+1)*n/w-1, 0)]
}

// level returns how many eighths of a row tokens fill.
func level(tokens, top int64, rows int) int {
	return int(min(max(float64(tokens)/float64(top), 0), 1)*float64(rows*8) + 0.5)
}

// token returns the style of a column.
func (v curve) token(tokens int64) theme.Token {
	if v.window <= 0 {
		return theme.BandNormal
	}
	return gauge.Token(thread.Gauge{Tokens: tokens, Window: v.window}.Band())
}

// draw draws the curve: what was sent, filled from below in the colour of its band, and above it what masks left out.
func (v curve) draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	labels, area := b.Left(gutter)
	if area.Empty() || len(v.points) == 0 {
		return
	}
	top := v.top()
	v.drawBands(c, labels, area, th, top)
	for x := range area.W {
		p := v.at(x, area.W)
		sent, all := level(p.Tokens, top, area.H), level(p.Tokens+max(p.Masked, 0), top, area.H)
		st := th.Style(v.token(p.Tokens))
		for y := range area.H {
			row := area.H - 1 - y
			switch from := y * 8; {
			case sent >= from+8:
				c.Print(area, x, row, st, "█")
			case sent > from:
				c.Print(area, x, row, st, eighths[sent-from])
			case p.Masked > 0 && (all >= from+4 || sent > from-8): // what is little is seen too
				c.Print(area, x, row, th.Style(theme.Track), masked)
			}
		}
	}
}

// drawBands draws a faint line where each band begins, and their shares beside them.
func (v curve) drawBands(c *layout.Canvas, labels, area layout.Box, th *theme.Theme, top int64) {
	line, label := th.Style(theme.Track), th.Style(theme.Muted)
	c.PrintRight(labels, 1, 0, label, thread.Tokens(top))
	for _, band := range bands {
		at := v.window / 100 * int64(band)
		if at <= 0 || at >= top {
			continue
		}
		y := area.H - 1 - level(at, top, area.H)/8
		if y <= 0 {
			continue // the label of the upper edge is there
		}
		c.PrintRight(labels, 1, y, label, fmt.Sprintf("%d%%", band))
		for x := range area.W {
			c.Print(area, x, y, line, "╌")
		}
	}
}

// heading returns the line above the curve.
func (v curve) heading() []styled.Span {
	out := []styled.Span{{Text: "Growth", Tok: theme.Heading}}
	last := v.points[len(v.points)-1]
	said := " over " + plain.Count(len(v.points), "response")
	if first := v.points[0].Turn; last.Turn > first && first > 0 {
		said += fmt.Sprintf(", turns %d to %d", first, last.Turn)
	}
	return append(out, styled.Span{Text: said + " ", Tok: theme.Muted})
}
