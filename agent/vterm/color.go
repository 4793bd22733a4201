package vterm

import (
	"strconv"
	"strings"
)

// basicColors are the first 16 entries of the palette.
var basicColors = [16]uint32{
	0x000000, 0xcd3131, 0x0dbc79, 0xe5e510, 0x2472c8, 0xbc3fbc, 0x11a8cd, 0xe5e5e5,
	0x666666, 0xf14c4c, 0x23d18b, 0xf5f543, 0x3b8eea, 0xd670d6, 0x29b8db, 0xffffff,
}

// PaletteRGB returns the RGB value that entry n of the palette has unless a program changed it.
func PaletteRGB(n uint8) (r, g, b uint8) {
	switch {
	case n < 16:
		v := basicColors[n]
		return uint8(v >> 16), uint8(v >> 8), uint8(v)
	case n < 232:
		level := func(i uint8) uint8 {
			if i == 0 {
				return 0
			}
			return 55 + 40*i
		}
		n -= 16
		return level(n / 36), level(n / 6 % 6), level(n % 6)
	}
	v := 8 + 10*(n-232)
	return v, v, v
}

// Resolve returns a colour of a cell as the program may have redefined it: palette entries that it changed
// come back as RGB, all else as it is.
func (t *Terminal) Resolve(c Color) Color {
	if n, ok := c.Palette(); ok && t.palette != nil {
		if v, ok := t.palette[n]; ok {
			return v
		}
	}
	return c
}

func (t *Terminal) resolve(c, def Color) (r, g, b uint8) {
	if c.IsDefault() {
		c = def
	}
	if n, ok := c.Palette(); ok {
		if v, ok := t.palette[n]; ok {
			c = v
		} else {
			return PaletteRGB(n)
		}
	}
	r, g, b, _ = c.RGB()
	return r, g, b
}

// xcolor writes a colour as X11 does, 16 bits a part.
func xcolor(r, g, b uint8) string {
	const hex = "0123456789abcdef"
	part := func(v uint8) string {
		h := string([]byte{hex[v>>4], hex[v&15]})
		return h + h
	}
	return "rgb:" + part(r) + "/" + part(g) + "/" + part(b)
}

// parseColor reads #rgb, #rrggbb, #rrrrggggbbbb and rgb:r/g/b.
func parseColor(s string) (Color, bool) {
	var parts []string
	if h, ok := strings.CutPrefix(s, "#"); ok {
		if len(h)%3 != 0 || len(h) == 0 || len(h) > 12 {
			return 0, false
		}
		n := len(h) / 3
		parts = []string{h[:n], h[n : 2*n], h[2*n:]}
	} else if h, ok := strings.CutPrefix(s, "rgb:"); ok {
		parts = strings.Split(h, "/")
	}
	if len(parts) != 3 {
		return 0, false
	}
	var v [3]uint8
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 16, 16)
		if err != nil || len(p) > 4 {
			return 0, false
		}
		full := uint64(1)<<(4*len(p)) - 1
		v[i] = uint8(n * 255 / full)
	}
	return RGBColor(v[0], v[1], v[2]), true
}

// DefaultColors returns the default colours that the program has set for itself, zero where it has not.
func (t *Terminal) DefaultColors() (fg, bg Color) { return t.fg, t.bg }
