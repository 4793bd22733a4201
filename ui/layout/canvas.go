package layout

import (
	"orchestrator/ui/theme"

	"github.com/clipperhouse/displaywidth"
)

// cell is one cell: text is empty for a blank and for the right half of a wide character,
// which then has cont set.
type cell struct {
	text  string
	style theme.Style
	cont  bool
}

// Canvas is a grid of cells. Its methods clip to the box they are given and to the canvas.
// A canvas is used by one goroutine.
type Canvas struct {
	w, h  int
	cells []cell
	out   []byte
}

// Reset makes it w by h blanks.
func (c *Canvas) Reset(w, h int) {
	c.w, c.h = max(w, 0), max(h, 0)
	n := c.w * c.h
	if cap(c.cells) < n {
		c.cells = make([]cell, n)
		return
	}
	c.cells = c.cells[:n]
	clear(c.cells)
}

// Bounds returns the whole canvas.
func (c *Canvas) Bounds() Box { return Box{0, 0, c.w, c.h} }

// Print writes safe text at column x of row y, both counted from the box, and returns the column
// after it. What does not fit is left out.
func (c *Canvas) Print(b Box, x, y int, st theme.Style, s string) int {
	clip := b.clip(c.Bounds())
	row := b.Y + y
	if row < clip.Y || row >= clip.Y+clip.H || s == "" {
		return x
	}
	line := c.cells[row*c.w : (row+1)*c.w]
	left, right := clip.X, clip.X+clip.W
	at := b.X + x
	for i := 0; i < len(s); {
		if s[i] >= 0x20 && s[i] < 0x7f && (i+1 == len(s) || s[i+1] < 0x80) {
			if at >= right {
				return at - b.X
			}
			if at >= left {
				put(line, at, s[i:i+1], 1, st)
			}
			at++
			i++
			continue
		}
		g := displaywidth.StringGraphemes(s[i:])
		if !g.Next() {
			break
		}
		v, n := g.Value(), g.Width()
		i += len(v)
		if n <= 0 {
			continue
		}
		if at+n > right {
			return at - b.X
		}
		if at >= left {
			put(line, at, v, n, st)
		}
		at += n
	}
	return at - b.X
}

// put writes one character of n cells, and blanks what is left of a wide one it cuts.
func put(line []cell, at int, text string, n int, st theme.Style) {
	if line[at].cont && at > 0 {
		line[at-1].text = ""
	}
	if end := at + n; end < len(line) && line[end].cont {
		line[end] = cell{style: line[end].style}
	}
	if text == " " {
		text = ""
	}
	line[at] = cell{text: text, style: st}
	for i := 1; i < n; i++ {
		line[at+i] = cell{style: st, cont: true}
	}
}

// Span is a piece of text with its style.
type Span struct {
	Text  string
	Style theme.Style
}

// PrintSpans writes spans one after the other.
func (c *Canvas) PrintSpans(b Box, x, y int, spans []Span) int {
	for _, s := range spans {
		x = c.Print(b, x, y, s.Style, s.Text)
	}
	return x
}

// PrintRight writes text that ends at the box's right edge, less gap columns, and returns the
// column where it begins.
func (c *Canvas) PrintRight(b Box, gap, y int, st theme.Style, s string) int {
	x := b.W - gap - displaywidth.String(s)
	c.Print(b, max(x, 0), y, st, s)
	return x
}

// Fill blanks the box in a style.
func (c *Canvas) Fill(b Box, st theme.Style) {
	b = b.clip(c.Bounds())
	for y := b.Y; y < b.Y+b.H; y++ {
		line := c.cells[y*c.w : (y+1)*c.w]
		for x := b.X; x < b.X+b.W; x++ {
			put(line, x, "", 1, st)
		}
	}
}

// Tint sets the background of what stands in the box, keeping the text.
func (c *Canvas) Tint(b Box, st theme.Style) {
	b = b.clip(c.Bounds())
	for y := b.Y; y < b.Y+b.H; y++ {
		for x := b.X; x < b.X+b.W; x++ {
			cl := &c.cells[y*c.w+x]
			if st.FG != 0 && cl.style.FG == 0 {
				cl.style.FG = st.FG
			}
			cl.style.BG = st.BG
			cl.style.Attr |= st.Attr
		}
	}
}

// Frame draws a border around the box, with a title in its top edge, and returns the inside.
func (c *Canvas) Frame(b Box, st theme.Style, title []Span) Box {
	if b.W < 2 || b.H < 2 {
		return Box{b.X, b.Y, 0, 0}
	}
	for x := 1; x < b.W-1; x++ {
		c.Print(b, x, 0, st, "─")
		c.Print(b, x, b.H-1, st, "─")
	}
	for y := 1; y < b.H-1; y++ {
		c.Print(b, 0, y, st, "│")
		c.Print(b, b.W-1, y, st, "│")
	}
	c.Print(b, 0, 0, st, "┌")
	c.Print(b, b.W-1, 0, st, "┐")
	c.Print(b, 0, b.H-1, st, "└")
	c.Print(b, b.W-1, b.H-1, st, "┘")
	if len(title) > 0 {
		top := Box{b.X + 2, b.Y, b.W - 3, 1}
		if x := c.PrintSpans(top, 0, 0, title); x < top.W {
			c.Print(top, x, 0, st, " ")
		}
		c.Print(b, 1, 0, st, " ")
	}
	return b.Inset(1)
}

// String returns the canvas as lines with escape sequences. Blanks at the end of lines are left
// out where they are in the terminal's own style.
func (c *Canvas) String() string {
	out := c.out[:0]
	for y := range c.h {
		if y > 0 {
			out = append(out, '\n')
		}
		line := c.cells[y*c.w : (y+1)*c.w]
		end := len(line)
		for end > 0 && line[end-1].text == "" && !line[end-1].cont && line[end-1].style == (theme.Style{}) {
			end--
		}
		var now theme.Style
		for i := range line[:end] {
			cl := &line[i]
			if cl.cont {
				continue
			}
			if cl.style != now {
				now = cl.style
				out = now.AppendSGR(out)
			}
			if cl.text == "" {
				out = append(out, ' ')
			} else {
				out = append(out, cl.text...)
			}
		}
		if now != (theme.Style{}) {
			out = append(out, "\x1b[m"...)
		}
	}
	c.out = out
	return string(out)
}
