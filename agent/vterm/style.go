package vterm

import "strconv"

// Color is a colour as the program named it: the default, an entry of the palette, or 24-bit RGB.
type Color uint32

const (
	colorPalette Color = 1 << 24
	colorRGB     Color = 2 << 24
	colorKind    Color = 0xff << 24
)

// PaletteColor names entry n of the 256-colour palette.
func PaletteColor(n uint8) Color { return colorPalette | Color(n) }

// RGBColor names a 24-bit colour.
func RGBColor(r, g, b uint8) Color {
	return colorRGB | Color(r)<<16 | Color(g)<<8 | Color(b)
}

// IsDefault reports whether the colour is the terminal's own foreground or background.
func (c Color) IsDefault() bool { return c&colorKind == 0 }

// Palette returns the palette entry, if the colour is one.
func (c Color) Palette() (uint8, bool) { return uint8(c), c&colorKind == colorPalette }

// RGB returns the three parts, if the colour is a 24-bit one.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c&colorKind == colorRGB
}

// Attr is a set of text attributes.
type Attr uint16

// The attributes of a cell. Protected is DECSCA's and is not visible.
const (
	Bold Attr = 1 << iota
	Dim
	Italic
	Blink
	Reverse
	Hidden
	Strike
	Overline
	Protected
	underlineShift      = 12
	underlineMask  Attr = 7 << underlineShift
)

// Underline is the kind of line under a cell.
type Underline uint8

// The underlines, numbered as SGR 4:n numbers them.
const (
	UnderlineNone Underline = iota
	UnderlineSingle
	UnderlineDouble
	UnderlineCurly
	UnderlineDotted
	UnderlineDashed
)

// Style is how a cell looks. The zero value is plain text. Link is a number to be given to
// Terminal.Link of the same terminal; 0 is none.
type Style struct {
	Fg, Bg, Ul Color
	Attr       Attr
	Link       uint16
}

// Underline returns the kind of underline.
func (s Style) Underline() Underline { return Underline(s.Attr & underlineMask >> underlineShift) }

// Underlined returns the style with a kind of underline.
func (s Style) Underlined(u Underline) Style {
	s.setUnderline(u)
	return s
}

func (s *Style) setUnderline(u Underline) {
	s.Attr = s.Attr&^underlineMask | Attr(u)<<underlineShift
}

// attrSGR pairs attributes with the SGR numbers that set them, in the order they are written.
var attrSGR = [...]struct {
	attr Attr
	code string
}{
	{Bold, ";1"}, {Dim, ";2"}, {Italic, ";3"}, {Blink, ";5"}, {Reverse, ";7"}, {Hidden, ";8"},
	{Strike, ";9"}, {Overline, ";53"},
}

// appendParams appends the SGR parameters of the style, beginning with a reset.
func (s Style) appendParams(dst []byte) []byte {
	dst = append(dst, '0')
	for _, a := range attrSGR {
		if s.Attr&a.attr != 0 {
			dst = append(dst, a.code...)
		}
	}
	if u := s.Underline(); u == UnderlineSingle {
		dst = append(dst, ";4"...)
	} else if u != UnderlineNone {
		dst = append(dst, ";4:"...)
		dst = append(dst, '0'+byte(u))
	}
	dst = appendColor(dst, s.Fg, 30)
	dst = appendColor(dst, s.Bg, 40)
	return appendColor(dst, s.Ul, 50)
}

// AppendSGR appends the one sequence that sets exactly this style (without link and protection).
func (s Style) AppendSGR(dst []byte) []byte {
	dst = append(dst, "\x1b["...)
	dst = s.appendParams(dst)
	return append(dst, 'm')
}

func appendColor(dst []byte, c Color, base int) []byte {
	if n, ok := c.Palette(); ok {
		switch {
		case base == 50:
			dst = append(dst, ";58:5:"...)
			return strconv.AppendInt(dst, int64(n), 10)
		case n < 8:
			dst = append(dst, ';')
			return strconv.AppendInt(dst, int64(base+int(n)), 10)
		case n < 16:
			dst = append(dst, ';')
			return strconv.AppendInt(dst, int64(base+60+int(n)-8), 10)
		}
		dst = append(dst, ';')
		dst = strconv.AppendInt(dst, int64(base+8), 10)
		dst = append(dst, ";5;"...)
		return strconv.AppendInt(dst, int64(n), 10)
	}
	r, g, b, ok := c.RGB()
	if !ok {
		return dst
	}
	sep := byte(';')
	dst = append(dst, ';')
	dst = strconv.AppendInt(dst, int64(base+8), 10)
	if base == 50 {
		sep = ':'
		dst = append(dst, ":2:"...)
	} else {
		dst = append(dst, ";2"...)
	}
	for _, v := range [3]uint8{r, g, b} {
		dst = append(dst, sep)
		dst = strconv.AppendInt(dst, int64(v), 10)
	}
	return dst
}
