package layout

import (
	"slices"
	"unicode/utf8"

	"charm.land/lipgloss/v2"

	"orchestrator/ui/glyph"
)

// Spin draws the mark of what works at column x of row y of the box: its first frame. Where Spinning says that it is seen,
// it turns without being drawn on the canvas again.
func (c *Canvas) Spin(b Box, x, y int, st lipgloss.Style) {
	_, n := utf8.DecodeRuneInString(glyph.Spinner)
	c.Print(b, x, y, st, glyph.Spinner[:n])
	at := Point{b.X + x, b.Y + y}
	if b.clip(c.Bounds()).Contains(at.X, at.Y) {
		c.spins = append(c.spins, at)
	}
}

// Spinning returns where such marks are seen on the finished canvas: those that nothing was drawn over. It is valid until
// the next Reset.
func (c *Canvas) Spinning() []Point {
	_, n := utf8.DecodeRuneInString(glyph.Spinner)
	first := c.Glyphs.Shown(glyph.Spinner[:n], 1)
	return slices.DeleteFunc(c.spins, func(p Point) bool { return c.cells.CellAt(p.X, p.Y).Content != first })
}
