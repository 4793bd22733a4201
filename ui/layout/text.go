package layout

import (
	uv "github.com/charmbracelet/ultraviolet"
)

// PrintStyled writes a text with escape sequences, as returned by components of Bubbles, into the first row of a box,
// and returns how many cells it takes.
func (c *Canvas) PrintStyled(b Box, s string) int {
	text := uv.NewStyledString(c.Glyphs.Text(s))
	b.W = min(b.W, text.UnicodeWidth())
	if clip := b.Row(0).clip(c.Bounds()); !clip.Empty() {
		text.Draw(c.cells, uv.Rect(clip.X, clip.Y, clip.W, clip.H))
	}
	return b.W
}
