package terminal

import (
	"orchestrator/agent/vterm"
	"orchestrator/ui/layout"
	"orchestrator/ui/paint"

	"charm.land/lipgloss/v2"
)

// Still draws the pane's current content in a single style, for when something covers the pane and it is not painted.
// Characters on whose width terminals disagree are left out.
func (m *Model) Still(c *layout.Canvas, b layout.Box, st lipgloss.Style) {
	if m.link == nil {
		return
	}
	m.renumber()
	source, scrolled, at := paint.Source(m.link.screen), m.scrolled, m.top
	if m.read != nil {
		source, scrolled, at = m.read.text, true, m.read.text.Window()
	}
	source.View(func(t *vterm.Terminal) {
		top := t.FirstLine() + uint64(t.History())
		switch {
		case scrolled:
			top = min(max(at, t.FirstLine()), top)
		case m.watched:
			top += uint64(paint.Hidden(t, b.H))
		}
		var cells []vterm.Cell
		var text []byte
		for y := range b.H {
			cells, _ = t.Line(cells[:0], top+uint64(y))
			text = text[:0]
			for i := range cells[:min(len(cells), b.W)] {
				text = appendStill(text, &cells[i])
			}
			c.Print(b, 0, y, st, string(text))
		}
	})
}

// appendStill appends a cell's character, or blanks of the same width.
func appendStill(dst []byte, c *vterm.Cell) []byte {
	r := c.Rune
	sure := r >= 0x20 && r < 0x7f || r > 0xa0 && r < 0x300 && r != 0xad || r >= 0x2010 && r < 0x2028 ||
		r >= 0x2030 && r < 0x205f || r >= 0x239b && r < 0x23cf || r >= 0x2500 && r < 0x2600 ||
		r >= 0x2800 && r < 0x2900 || r >= 0x4e00 && r < 0xa000
	if c.Cluster == "" && sure {
		if c.Width == 0 {
			return dst
		}
		return c.AppendText(dst)
	}
	for range c.Width {
		dst = append(dst, ' ')
	}
	return dst
}
