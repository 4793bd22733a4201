package layout

import (
	"image/color"
	"slices"

	"charm.land/lipgloss/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"

	"orchestrator/ui/glyph"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Canvas is a grid of cells. Its methods clip to their box and to the canvas. It may be used by only one goroutine.
type Canvas struct {
	// Glyphs are those that the terminal can show: what is written is turned into them, whoever writes it.
	Glyphs glyph.Set

	spins  []Point // where marks were drawn that turn
	cells  *lipgloss.Canvas
	cursor Box // the cell of the terminal's cursor; empty if there is none
}

// Reset resizes the canvas to w by h blank cells.
func (c *Canvas) Reset(w, h int) {
	w, h = max(w, 0), max(h, 0)
	c.cursor, c.spins = Box{}, c.spins[:0]
	if c.cells == nil {
		c.cells = lipgloss.NewCanvas(w, h)
		return
	}
	c.cells.Resize(w, h)
	c.cells.Clear()
}

// Bounds returns the whole canvas.
func (c *Canvas) Bounds() Box {
	if c.cells == nil {
		return Box{}
	}
	return Box{0, 0, c.cells.Width(), c.cells.Height()}
}

// Print writes safe text at column x of row y, relative to the box, and returns the column after it. It leaves out what
// does not fit.
func (c *Canvas) Print(b Box, x, y int, st lipgloss.Style, s string) int {
	clip := b.clip(c.Bounds())
	row := b.Y + y
	if row < clip.Y || row >= clip.Y+clip.H || s == "" {
		return x
	}
	cell := uv.Cell{Style: cellStyle(&st)}
	left, right := clip.X, clip.X+clip.W
	at := b.X + x
	for i := 0; i < len(s); {
		if s[i] >= 0x20 && s[i] < 0x7f && (i+1 == len(s) || s[i+1] < 0x80) {
			cell.Content, cell.Width = s[i:i+1], 1
		} else {
			g := displaywidth.StringGraphemes(s[i:])
			if !g.Next() {
				break
			}
			cell.Content, cell.Width = g.Value(), g.Width()
		}
		i += len(cell.Content)
		cell.Content = c.Glyphs.Shown(cell.Content, cell.Width)
		if cell.Width <= 0 {
			continue
		}
		if at+cell.Width > right {
			return at - b.X
		}
		if at >= left {
			c.cells.SetCell(at, row, &cell)
		}
		at += cell.Width
	}
	return at - b.X
}

// cellStyle converts a style to that of a cell.
func cellStyle(st *lipgloss.Style) uv.Style {
	s := uv.Style{Fg: shade(st.GetForeground()), Bg: shade(st.GetBackground()), Underline: st.GetUnderlineStyle()}
	for _, a := range [...]struct {
		on  bool
		bit uint8
	}{
		{st.GetBold(), uv.AttrBold},
		{st.GetFaint(), uv.AttrFaint},
		{st.GetItalic(), uv.AttrItalic},
		{st.GetReverse(), uv.AttrReverse},
		{st.GetStrikethrough(), uv.AttrStrikethrough},
	} {
		if a.on {
			s.Attrs |= a.bit
		}
	}
	return s
}

// shade returns the colour of a cell, or nil for the terminal's default.
func shade(c color.Color) color.Color {
	if _, none := c.(lipgloss.NoColor); none {
		return nil
	}
	return c
}

// PrintSpans writes spans one after the other, in the styles of a theme.
func (c *Canvas) PrintSpans(b Box, x, y int, th *theme.Theme, spans []styled.Span) int {
	for _, s := range spans {
		x = c.Print(b, x, y, s.Attr.To(th.Style(s.Tok)), s.Text)
	}
	return x
}

// PrintRight writes text aligned to the box's right edge, less gap columns, and returns the column where it starts.
func (c *Canvas) PrintRight(b Box, gap, y int, st lipgloss.Style, s string) int {
	x := b.W - gap - displaywidth.String(s)
	c.Print(b, max(x, 0), y, st, s)
	return x
}

// Fill fills the box with blanks in a style.
func (c *Canvas) Fill(b Box, st lipgloss.Style) {
	blank := uv.EmptyCell
	blank.Style = cellStyle(&st)
	b = b.clip(c.Bounds())
	c.cover(b)
	for y := b.Y; y < b.Y+b.H; y++ {
		for x := b.X; x < b.X+b.W; x++ {
			c.cells.SetCell(x, y, &blank)
		}
	}
}

// cover forgets marks that something is drawn over.
func (c *Canvas) cover(b Box) {
	c.spins = slices.DeleteFunc(c.spins, func(p Point) bool { return b.Contains(p.X, p.Y) })
}

// Tint sets the background of the box, keeping the text. On one of the 16 colours, of which only the terminal knows what
// they look like, all text takes the style's own colour.
func (c *Canvas) Tint(b Box, st lipgloss.Style) {
	tint := cellStyle(&st)
	_, basic := tint.Bg.(ansi.BasicColor)
	b = b.clip(c.Bounds())
	for y := b.Y; y < b.Y+b.H; y++ {
		for x := b.X; x < b.X+b.W; x++ {
			cell := c.cells.CellAt(x, y)
			if cell.Width == 0 {
				continue // the right half of a wide character, which has no style of its own
			}
			s := &cell.Style
			if tint.Fg != nil && (s.Fg == nil || basic) {
				s.Fg = tint.Fg
			}
			s.Bg = tint.Bg
			s.Attrs |= tint.Attrs
			if tint.Underline != uv.UnderlineNone {
				s.Underline = tint.Underline
			}
		}
	}
}

// Rule draws a line of a narrow character over the first row of the box.
func (c *Canvas) Rule(b Box, st lipgloss.Style, char string) {
	style := cellStyle(&st)
	b = b.Row(0).clip(c.Bounds())
	for x := range b.W {
		c.set(b.X+x, b.Y, char, style)
	}
}

// Frame draws a border around the box, with a title in its top edge, and returns the inside.
func (c *Canvas) Frame(b Box, th *theme.Theme, tok theme.Token, title []styled.Span) Box {
	if b.W < 2 || b.H < 2 {
		return Box{b.X, b.Y, 0, 0}
	}
	st, edge := th.Style(tok), lipgloss.NormalBorder()
	style := cellStyle(&st)
	for x := 1; x < b.W-1; x++ {
		c.set(b.X+x, b.Y, edge.Top, style)
		c.set(b.X+x, b.Y+b.H-1, edge.Bottom, style)
	}
	for y := 1; y < b.H-1; y++ {
		c.set(b.X, b.Y+y, edge.Left, style)
		c.set(b.X+b.W-1, b.Y+y, edge.Right, style)
	}
	c.set(b.X, b.Y, edge.TopLeft, style)
	c.set(b.X+b.W-1, b.Y, edge.TopRight, style)
	c.set(b.X, b.Y+b.H-1, edge.BottomLeft, style)
	c.set(b.X+b.W-1, b.Y+b.H-1, edge.BottomRight, style)
	if len(title) > 0 {
		top := Box{b.X + 2, b.Y, b.W - 3, 1}
		if x := c.PrintSpans(top, 0, 0, th, title); x < top.W {
			c.Print(top, x, 0, st, " ")
		}
		c.Print(b, 1, 0, st, " ")
	}
	return b.Inset(1)
}

// set writes a narrow character into a cell.
func (c *Canvas) set(x, y int, char string, st uv.Style) {
	if c.Bounds().Contains(x, y) {
		c.cells.SetCell(x, y, &uv.Cell{Content: c.Glyphs.Shown(char, 1), Style: st, Width: 1})
	}
}

// String returns the canvas as lines with escape sequences, without trailing blanks in the terminal's default style.
func (c *Canvas) String() string {
	if c.cells == nil {
		return ""
	}
	return c.cells.Render()
}
