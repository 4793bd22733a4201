// Package pager shows scrolling lines, with a cursor and a search. The views for reading (a turn, a diff, the context)
// fill it with styled lines.
package pager

import (
	"slices"
	"strings"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/list"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Pager has lines and a position in them.
type Pager struct {
	// Free hides the cursor: keys scroll the lines.
	Free bool

	lines []styled.Line
	win   list.Window

	query string
	hits  []int // matching lines, ascending
}

// Set replaces the lines, and keeps the position if possible.
func (p *Pager) Set(lines []styled.Line) {
	p.lines = lines
	p.fit(p.win.Rows())
	p.find()
}

// Reset goes to the top and clears the search.
func (p *Pager) Reset() { p.win, p.query, p.hits = list.Window{}, "", nil }

func (p *Pager) fit(rows int) {
	p.win.Free = p.Free
	p.win.Fit(len(p.lines), rows, nil)
}

// Len returns the number of lines.
func (p *Pager) Len() int { return len(p.lines) }

// Ref returns the ref of the line under the cursor.
func (p *Pager) Ref() int {
	if at := p.win.At(); at < len(p.lines) {
		return p.lines[at].Ref
	}
	return 0
}

// GoRef moves the cursor to the first line with a ref.
func (p *Pager) GoRef(ref int) {
	for i, l := range p.lines {
		if l.Ref == ref {
			p.win.Go(i)
			return
		}
	}
}

// Handle handles an action and reports whether it was one for the pager.
func (p *Pager) Handle(a intent.Action) bool {
	switch a {
	case intent.NextHit:
		p.jump(1)
	case intent.PrevHit:
		p.jump(-1)
	default:
		return p.win.Handle(a)
	}
	return true
}

// Scroll scrolls by lines, as the wheel does.
func (p *Pager) Scroll(n int) { p.win.Move(n) }

// Search highlights matches, ignoring case, and goes to the next match from the cursor.
func (p *Pager) Search(query string) int {
	p.query = strings.ToLower(query)
	p.find()
	if i, _ := slices.BinarySearch(p.hits, p.win.At()); i < len(p.hits) {
		p.win.Go(p.hits[i])
	}
	return len(p.hits)
}

// Query returns the search text.
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

// jump goes to the next match in a direction, wrapping around.
func (p *Pager) jump(dir int) {
	n := len(p.hits)
	if n == 0 {
		return
	}
	i, on := slices.BinarySearch(p.hits, p.win.At())
	if dir < 0 {
		i--
	} else if on {
		i++
	}
	p.win.Go(p.hits[(i+n)%n])
}

// Draw draws the visible lines.
func (p *Pager) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, focus bool) {
	p.fit(b.H)
	for n, y := range p.win.Items() {
		c.PrintSpans(b, 0, y, th, p.lines[n].Spans)
		p.drawHits(c, b.Row(y), th, n)
		if focus && !p.Free && n == p.win.At() {
			c.Tint(b.Row(y), th.Style(theme.Selected))
		}
	}
	if y, more := p.win.Thumb(); more {
		c.Print(b, b.W-1, y, th.Style(theme.Muted), "▐")
	}
}

// drawHits highlights the matches in a line.
func (p *Pager) drawHits(c *layout.Canvas, row layout.Box, th *theme.Theme, n int) {
	if p.query == "" {
		return
	}
	text := p.lines[n].Text()
	low := strings.ToLower(text)
	if len(low) != len(text) {
		return // lower-casing changed the bytes: the line is found, but not highlighted
	}
	for from := 0; ; {
		i := strings.Index(low[from:], p.query)
		if i < 0 {
			return
		}
		i += from
		from = i + len(p.query)
		x := plain.Width(text[:i])
		c.Tint(layout.Box{X: row.X + x, Y: row.Y, W: min(plain.Width(text[i:from]), row.W-x), H: 1},
			th.Style(theme.Match))
	}
}
