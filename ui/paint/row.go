package paint

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"orchestrator/agent/vterm"
	"orchestrator/ui/glyph"
)

// rowKey identifies the content of a painted row. Equal keys mean equal content.
type rowKey struct {
	line       uint64 // number of a history line plus 1, 0 for a row of the screen
	gen        uint64
	selA, selB int
	matches    *Matches // nil if none are in the row
	valid      bool
}

// moveTo appends the sequence that moves the cursor to a cell of the screen, counted from 0.
func moveTo(dst []byte, x, y int) []byte {
	dst = append(dst, "\x1b["...)
	dst = strconv.AppendInt(dst, int64(y+1), 10)
	dst = append(dst, ';')
	dst = strconv.AppendInt(dst, int64(x+1), 10)
	return append(dst, 'H')
}

// row draws cells at a position, cut and padded to the width. Columns selA..selB-1 are shown as selected, and stretches
// as matches.
func (p *rowPainter) row(x, y, width, selA, selB int, found []stretch) {
	for _, s := range found {
		p.highlight(s)
	}
	p.out = moveTo(p.out, x, y)
	col := 0
	for i := 0; i < len(p.cells) && col < width; i++ {
		c := &p.cells[i]
		if c.Width == 0 {
			continue
		}
		style := p.shown(c.Style, i >= selA && i < selB)
		if c.Style.Link != p.link.from {
			p.enter(i)
		}
		if col+int(c.Width) > width { // a wide character cut off by the edge
			p.set(style)
			p.out = append(p.out, ' ')
			col++
			break
		}
		p.set(style)
		exact := p.text(c)
		col += int(c.Width)
		if !exact && col < width {
			p.out = moveTo(p.out, x+col, y)
		}
	}
	p.leave()
	for ; col < width; col++ {
		p.set(p.shown(vterm.Style{}, col >= selA && col < selB))
		p.out = append(p.out, ' ')
	}
}

// matchStyle is the style of a match, which can be told without colours too.
var matchStyle = vterm.Style{
	Fg: vterm.RGBColor(0x1c, 0x1c, 0x1c), Bg: vterm.RGBColor(0xff, 0xd7, 0x5f), Attr: vterm.Bold,
}.Underlined(vterm.UnderlineSingle)

// highlight gives cells the style of a match.
func (p *rowPainter) highlight(s stretch) {
	for i := max(s.a, 0); i < min(s.b, len(p.cells)); i++ {
		style := matchStyle
		style.Link = p.cells[i].Style.Link
		p.cells[i].Style = style
	}
}

// text writes the characters of a cell. It returns false if terminals may disagree about their width.
func (p *rowPainter) text(c *vterm.Cell) bool {
	if p.glyphs == glyph.Bytes && (c.Cluster != "" || c.Rune >= 0x7f) {
		p.out = append(p.out, p.glyphs.Shown(string(c.AppendText(nil)), int(c.Width))...)
		return true
	}
	if c.Cluster == "" {
		r := c.Rune
		switch {
		case r >= 0x20 && r < 0x7f:
			p.out = append(p.out, byte(r))
			return true
		case r < 0xa0 || r == 0xad || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) && c.Width != 1:
			p.blank(c)
			return true
		}
		p.out = c.AppendText(p.out)
		return r < 0x300 || r >= 0x2500 && r < 0x25a0 || r >= 0x4e00 && r < 0xa000 || r >= 0x2800 && r < 0x2900 ||
			r >= 0xac00 && r < 0xd7a4
	}
	for _, r := range c.Cluster {
		if r < 0xa0 && (r < 0x20 || r >= 0x7f) {
			p.blank(c)
			return true
		}
	}
	flag := strings.HasPrefix(c.Cluster, "\U0001f3f4")
	for _, r := range c.Cluster {
		if flag || r < 0xe0000 || r > 0xe007f { // tags belong to flags; elsewhere they hide text that a model reads
			p.out = utf8.AppendRune(p.out, r)
		}
	}
	return false
}

func (p *rowPainter) blank(c *vterm.Cell) {
	for range c.Width {
		p.out = append(p.out, ' ')
	}
}

// shown returns the style as displayed: with colours that the program has redefined, reverse screen and selection.
func (p *rowPainter) shown(s vterm.Style, selected bool) vterm.Style {
	s.Link = 0
	s.Attr &^= vterm.Protected
	s.Fg, s.Bg, s.Ul = p.term.Resolve(s.Fg), p.term.Resolve(s.Bg), p.term.Resolve(s.Ul)
	if s.Fg.IsDefault() {
		s.Fg = p.look.fg
	}
	if s.Bg.IsDefault() {
		s.Bg = p.look.bg
	}
	if selected != p.look.reverse {
		s.Attr ^= vterm.Reverse
	}
	return s
}

func (p *rowPainter) set(s vterm.Style) {
	if p.styled && s == p.style {
		return
	}
	p.out = appendStyle(p.out, s, p.profile)
	p.style, p.styled = s, true
}
