package theme

import "strconv"

// Color is a colour of a cell: the zero value is the terminal's own, the others carry their kind
// in the top byte.
type Color uint32

const (
	kindANSI Color = 1 << 24
	kind256  Color = 2 << 24
	kindRGB  Color = 3 << 24
	kindMask Color = 0xff << 24
)

// ANSI returns one of the 16 colours that every colour terminal has.
func ANSI(n int) Color { return kindANSI | Color(n&15) }

// Indexed returns one of the 256 colours.
func Indexed(n int) Color { return kind256 | Color(n&255) }

// RGB returns a true colour from 0xRRGGBB.
func RGB(hex uint32) Color { return kindRGB | Color(hex&0xffffff) }

// Attr is a set of attributes.
type Attr uint8

// The attributes.
const (
	Bold Attr = 1 << iota
	Italic
	Underline
	Reverse
	Strike
)

// Style is how a cell looks. It is comparable; the zero value is the terminal's own.
type Style struct {
	FG, BG Color
	Attr   Attr
}

// With returns the style with attributes added.
func (s Style) With(a Attr) Style { s.Attr |= a; return s }

// On returns the style on another's background.
func (s Style) On(b Style) Style {
	s.BG = b.BG
	s.Attr |= b.Attr & Reverse
	return s
}

// AppendSGR appends the sequence that sets exactly this style.
func (s Style) AppendSGR(dst []byte) []byte {
	dst = append(dst, "\x1b["...)
	if s == (Style{}) {
		return append(dst, 'm')
	}
	dst = append(dst, '0')
	for i, code := range attrCodes {
		if s.Attr&(1<<i) != 0 {
			dst = append(dst, ';', code)
		}
	}
	dst = appendColor(dst, s.FG, 30)
	dst = appendColor(dst, s.BG, 40)
	return append(dst, 'm')
}

// attrCodes are the SGR digits of the attributes in the order of their bits.
var attrCodes = [...]byte{'1', '3', '4', '7', '9'}

func appendColor(dst []byte, c Color, base int64) []byte {
	v := int64(c &^ kindMask)
	switch c & kindMask {
	case kindANSI:
		if v >= 8 {
			base += 60 - 8
		}
		dst = append(dst, ';')
		return strconv.AppendInt(dst, base+v, 10)
	case kind256:
		dst = append(dst, ';')
		dst = strconv.AppendInt(dst, base+8, 10)
		dst = append(dst, ";5;"...)
		return strconv.AppendInt(dst, v, 10)
	case kindRGB:
		dst = append(dst, ';')
		dst = strconv.AppendInt(dst, base+8, 10)
		dst = append(dst, ";2;"...)
		dst = strconv.AppendInt(dst, v>>16, 10)
		dst = append(dst, ';')
		dst = strconv.AppendInt(dst, v>>8&255, 10)
		dst = append(dst, ';')
		return strconv.AppendInt(dst, v&255, 10)
	default:
		return dst
	}
}

// to256 returns the nearest of the 240 fixed colours.
func to256(hex uint32) Color {
	r, g, b := int(hex>>16), int(hex>>8&255), int(hex&255)
	step := func(v int) int {
		switch {
		case v < 48:
			return 0
		case v < 115:
			return 1
		default:
			return (v - 35) / 40
		}
	}
	level := [...]int{0, 95, 135, 175, 215, 255}
	cr, cg, cb := step(r), step(g), step(b)
	gray := min(max((r+g+b)/3-3, 0)/10, 23)
	far := func(x, y, z int) int { return (x-r)*(x-r) + (y-g)*(y-g) + (z-b)*(z-b) }
	v := 8 + gray*10
	if far(v, v, v) < far(level[cr], level[cg], level[cb]) {
		return Indexed(232 + gray)
	}
	return Indexed(16 + 36*cr + 6*cg + cb)
}
