package vterm

// charsets is the state of ISO 2022 as far as programs use it: line drawing and little else.
type charsets struct {
	g      [4]byte // final byte of the designation, 0 for ASCII
	gl     uint8   // which of g is in use
	single uint8   // 2 or 3: only for the next character
}

func (c *charsets) plain() bool {
	return c.single == 0 && c.g[c.gl] == 0
}

// specialGraphics is the DEC line drawing set, from 0x5f.
var specialGraphics = [...]rune{
	0x00a0, 0x25c6, 0x2592, 0x2409, 0x240c, 0x240d, 0x240a, 0x00b0, 0x00b1, 0x2424, 0x240b, 0x2518,
	0x2510, 0x250c, 0x2514, 0x253c, 0x23ba, 0x23bb, 0x2500, 0x23bc, 0x23bd, 0x251c, 0x2524, 0x2534,
	0x252c, 0x2502, 0x2264, 0x2265, 0x03c0, 0x2260, 0x00a3, 0x00b7,
}

func (c *charsets) translate(r rune) rune {
	set := c.g[c.gl]
	if c.single != 0 {
		set = c.g[c.single]
		c.single = 0
	}
	switch {
	case set == '0' && r >= 0x5f && r < 0x7f:
		return specialGraphics[r-0x5f]
	case set == 'A' && r == '#':
		return '£'
	}
	return r
}
