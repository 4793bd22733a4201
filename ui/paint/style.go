package paint

import (
	"strconv"

	"github.com/charmbracelet/colorprofile"

	"orchestrator/agent/vterm"
	"orchestrator/ui/theme"
)

// attributes are the supported attributes, with the numbers that set them.
var attributes = [...]struct {
	attr vterm.Attr
	code string
}{
	{vterm.Bold, ";1"}, {vterm.Dim, ";2"}, {vterm.Italic, ";3"}, {vterm.Blink, ";5"}, {vterm.Reverse, ";7"},
	{vterm.Hidden, ";8"}, {vterm.Strike, ";9"}, {vterm.Overline, ";53"},
}

// appendStyle appends the sequence that sets a style, as far as the profile supports it.
func appendStyle(dst []byte, s vterm.Style, p colorprofile.Profile) []byte {
	switch {
	case p <= colorprofile.NoTTY:
		return dst
	case s == (vterm.Style{}):
		return append(dst, "\x1b[m"...)
	}
	dst = append(dst, "\x1b[0"...)
	for _, a := range attributes {
		if s.Attr&a.attr != 0 {
			dst = append(dst, a.code...)
		}
	}
	if u := s.Underline(); u != vterm.UnderlineNone {
		dst = append(dst, ";4"...)
		if u != vterm.UnderlineSingle && p == colorprofile.TrueColor {
			dst = append(dst, ':', '0'+byte(u))
		}
	}
	dst = appendColor(dst, s.Fg, 30, p)
	dst = appendColor(dst, s.Bg, 40, p)
	if p == colorprofile.TrueColor && s.Underline() != vterm.UnderlineNone {
		dst = appendUnderlineColor(dst, s.Ul)
	}
	return append(dst, 'm')
}

func appendColor(dst []byte, c vterm.Color, base int64, p colorprofile.Profile) []byte {
	if c.IsDefault() || p <= colorprofile.ASCII {
		return dst
	}
	n, indexed := c.Palette()
	if !indexed {
		r, g, b, _ := c.RGB()
		switch p {
		case colorprofile.TrueColor:
			dst = append(dst, ';')
			dst = strconv.AppendInt(dst, base+8, 10)
			dst = append(dst, ";2"...)
			for _, v := range [3]uint8{r, g, b} {
				dst = strconv.AppendInt(append(dst, ';'), int64(v), 10)
			}
			return dst
		case colorprofile.ANSI256:
			n = theme.Nearest256(r, g, b)
		default:
			n = theme.Nearest16(r, g, b)
		}
	} else if p == colorprofile.ANSI && n >= 16 {
		n = theme.Nearest16(vterm.PaletteRGB(n))
	}
	dst = append(dst, ';')
	switch {
	case n < 8:
		return strconv.AppendInt(dst, base+int64(n), 10)
	case n < 16:
		return strconv.AppendInt(dst, base+60+int64(n)-8, 10)
	}
	dst = strconv.AppendInt(dst, base+8, 10)
	dst = append(dst, ";5;"...)
	return strconv.AppendInt(dst, int64(n), 10)
}

func appendUnderlineColor(dst []byte, c vterm.Color) []byte {
	if n, ok := c.Palette(); ok {
		dst = append(dst, ";58:5:"...)
		return strconv.AppendInt(dst, int64(n), 10)
	}
	if r, g, b, ok := c.RGB(); ok {
		dst = append(dst, ";58:2:"...)
		for _, v := range [3]uint8{r, g, b} {
			dst = strconv.AppendInt(append(dst, ':'), int64(v), 10)
		}
	}
	return dst
}
