package theme

import (
	"image/color"

	"charm.land/lipgloss/v2"
)

// Attr is a set of attributes of text besides its token.
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
