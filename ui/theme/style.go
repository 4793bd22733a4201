package theme

import (
	"image/color"

	"charm.land/lipgloss/v2"
)

// Attr is a set of attributes that text has besides its token.
type Attr uint8

// The attributes.
const (
	Bold Attr = 1 << iota
	Italic
	Underline
	Reverse
	Strike
)

// To returns a style with the attributes added.
func (a Attr) To(s lipgloss.Style) lipgloss.Style {
	if a&Bold != 0 {
		s = s.Bold(true)
	}
	if a&Italic != 0 {
		s = s.Italic(true)
	}
	if a&Underline != 0 {
		s = s.Underline(true)
	}
	if a&Reverse != 0 {
		s = s.Reverse(true)
	}
	if a&Strike != 0 {
		s = s.Strikethrough(true)
	}
	return s
}

// rgb returns a colour from 0xRRGGBB.
func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff} //nolint:gosec // a byte each
}

// Nearest256 returns the one of the 240 fixed colours, cube and grey ramp, that is closest. It keeps greys
// grey; the reduction of the terminal library makes some of them teal.
func Nearest256(r, g, b uint8) uint8 {
	step := func(v uint8) int {
		switch {
		case v < 48:
			return 0
		case v < 115:
			return 1
		default:
			return (int(v) - 35) / 40
		}
	}
	level := [...]int{0, 95, 135, 175, 215, 255}
	cr, cg, cb := step(r), step(g), step(b)
	grey := min(max((int(r)+int(g)+int(b))/3-3, 0)/10, 23)
	far := func(x, y, z int) int {
		dr, dg, db := x-int(r), y-int(g), z-int(b)
		return dr*dr + dg*dg + db*db
	}
	if v := 8 + grey*10; far(v, v, v) < far(level[cr], level[cg], level[cb]) {
		return uint8(232 + grey) //nolint:gosec // 255 at most
	}
	return uint8(16 + 36*cr + 6*cg + cb) //nolint:gosec // 231 at most
}
