// Package pager shows lines that scroll, with a cursor and a search. The views that read things
// (a turn, a diff, the context) fill it with lines and tokens; it draws them in whatever theme.
package pager

import (
	"strings"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Pager is the lines with their position.
type Pager struct {
	lines []styled.Line
	top   int
	at    int // cursor
	page  int
	// Free hides the cursor: keys scroll the lines themselves.
	Free bool

	query string
	hits  []int // lines that match, ascending
}

// Set replaces the lines and keeps the position as far as it can.
func (p *Pager) Set(lines []styled.Line) {
	p.lines = lines
	p.clamp()
	p.find()
}

// Reset goes to the top and forgets the search.
func (p *Pager) Reset() { p.top, p.at, p.query, p.hits = 0, 0, "", nil }

// Len is the number of lines.
func (p *Pager) Len() int { return len(p.lines) }

// Ref returns what the line under the cursor belongs to.
func (p *Pager) Ref() int {
	if p.at < len(p.lines) {
		return p.lines[p.at].Ref
	}
	return 0
}

// GoRef moves the cursor to the first line of a ref.
func (p *Pager) GoRef(ref int) {
	for i, l := range p.lines {
		if l.Ref == ref {
			p.at = i
			p.clamp()
			return
		}
	}
}

// Handle moves by an intent and reports whether it was one for it.
func (p *Pager) Handle(a intent.Action) bool {
	step := max(p.page-2, 1)
	switch a {
	case intent.Up:
		p.move(-1)
	case intent.Down:
		p.move(1)
	case intent.PageUp:
		p.move(-step)
	case intent.PageDown:
		p.move(step)
	case intent.First:
		p.move(-len(p.lines))
	case intent.Last:
		p.move(len(p.lines))
	case intent.NextHit:
		p.jump(1)
	case intent.PrevHit:
		p.jump(-1)
	default:
		return false
	}
	return true
}

// Scroll moves by lines, as the wheel does.
func (p *Pager) Scroll(n int) { p.move(n) }

func (p *Pager) move(n int) {
	if p.Free {
		p.top += n
		p.at = p.top
	} else {
		p.at += n
	}
	p.clamp()
}

func (p *Pager) clamp() {
	p.at = max(min(p.at, len(p.lines)-1), 0)
	p.top = max(min(p.top, len(p.lines)-max(p.page, 1)), 0)
	if p.Free {
		p.at = max(p.at, p.top)
		return
	}
	if p.page > 0 {
		p.top = max(min(p.top, p.at), p.at-p.page+1)
	}
}

// Search marks what matches, whatever the case, and goes to the next match from the cursor on.
func (p *Pager) Search(query string) int {
	p.query = strings.ToLower(query)
	p.find()
	for _, h := range p.hits {
		if h >= p.at {
			p.goTo(h)
			break
		}
	}
	return len(p.hits)
}

// Query returns what is searched for.
func (p *Pager) Query() string { return p.query }

func (p *Pager) find() {
	p.hits = p.hits[:0]
	if p.query == "" {
		return
	}
	for i, l := range p.lines {
		if strings.Contains(strings.ToLower(l.Text()), p.query) {
			p.hits = append(p.hits, i)
		}
	}
}

// jump goes to the next match in a direction, going round.
func (p *Pager) jump(dir int) {
	if len(p.hits) == 0 {
		return
	}
	if dir > 0 {
		for _, h := range p.hits {
			if h > p.at {
				p.goTo(h)
				return
			}
		}
		p.goTo(p.hits[0])
		return
	}
	for i := len(p.hits) - 1; i >= 0; i-- {
		if p.hits[i] < p.at {
			p.goTo(p.hits[i])
			return
		}
	}
	p.goTo(p.hits[len(p.hits)-1])
}

func (p *Pager) goTo(line int) {
	p.at = line
	if p.Free {
		p.top = max(line-p.page/3, 0)
	}
	p.clamp()
	p.at = line
}

// Draw draws what fits.
func (p *Pager) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, focus bool) {
	p.page = b.H
	p.clamp()
	for y := 0; y < b.H && p.top+y < len(p.lines); y++ {
		n := p.top + y
		c.PrintSpans(b, 0, y, th, p.lines[n].Spans)
		p.drawHits(c, b.Row(y), th, n)
		if focus && !p.Free && n == p.at {
			c.Tint(b.Row(y), th.Style(theme.Selected))
		}
	}
	p.drawBar(c, b, th)
}

// drawHits marks the matches of a line.
func (p *Pager) drawHits(c *layout.Canvas, row layout.Box, th *theme.Theme, n int) {
	if p.query == "" {
		return
	}
	text := p.lines[n].Text()
	low := strings.ToLower(text)
	if len(low) != len(text) {
		return // lower case changed the bytes; the line is still found, only not marked
	}
	for from := 0; ; {
		i := strings.Index(low[from:], p.query)
		if i < 0 {
			return
		}
		i += from
		from = i + len(p.query)
		x := plain.Width(text[:i])
		c.Tint(layout.Box{X: row.X + x, Y: row.Y, W: min(plain.Width(text[i:from]), row.W-x), H: 1}, th.Style(theme.Match))
	}
}

// drawBar draws a thumb at the right edge where there is more than fits.
func (p *Pager) drawBar(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	if len(p.lines) <= b.H || b.H < 2 {
		return
	}
	y := p.top * (b.H - 1) / max(len(p.lines)-b.H, 1)
	c.Print(b, b.W-1, min(y, b.H-1), th.Style(theme.Muted), "▐")
}
