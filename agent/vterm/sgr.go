package vterm

// sgr changes the pen.
func (t *Terminal) sgr(p *params) {
	s := t.pen
	if p.n == 0 {
		s = Style{Attr: s.Attr & Protected, Link: s.Link}
	}
	for i := 0; i < p.n; {
		i += s.sgr(p, i)
	}
	t.setPen(s)
}

// sgr applies the parameter at i and returns how many it took, with what belongs to it after colons.
func (s *Style) sgr(p *params, i int) int {
	sub := 1
	for i+sub < p.n && p.sub&(1<<(i+sub)) != 0 {
		sub++
	}
	switch n := p.raw(i); n {
	case 38, 48, 58:
		c, took, ok := sgrColor(p, i, sub)
		if ok {
			switch n {
			case 38:
				s.Fg = c
			case 48:
				s.Bg = c
			default:
				s.Ul = c
			}
		}
		return took
	case 4:
		u := 1
		if sub > 1 {
			u = p.raw(i + 1)
		}
		if u <= int(UnderlineDashed) {
			s.setUnderline(Underline(u))
		}
	default:
		if sub == 1 {
			s.sgrSimple(n)
		}
	}
	return sub
}

var sgrSet = [...]Attr{1: Bold, 2: Dim, 3: Italic, 5: Blink, 6: Blink, 7: Reverse, 8: Hidden, 9: Strike}

func (s *Style) sgrSimple(n int) {
	switch {
	case n == 0:
		*s = Style{Attr: s.Attr & Protected, Link: s.Link}
	case n < len(sgrSet):
		s.Attr |= sgrSet[n]
	case n == 21:
		s.setUnderline(UnderlineDouble)
	case n == 22:
		s.Attr &^= Bold | Dim
	case n == 24:
		s.setUnderline(UnderlineNone)
	case n == 25:
		s.Attr &^= Blink
	case n == 23 || n >= 27 && n <= 29:
		s.Attr &^= sgrSet[n-20]
	case n >= 30 && n <= 37:
		s.Fg = PaletteColor(uint8(n - 30))
	case n == 39:
		s.Fg = 0
	case n >= 40 && n <= 47:
		s.Bg = PaletteColor(uint8(n - 40))
	case n == 49:
		s.Bg = 0
	case n == 53:
		s.Attr |= Overline
	case n == 55:
		s.Attr &^= Overline
	case n == 59:
		s.Ul = 0
	case n >= 90 && n <= 97:
		s.Fg = PaletteColor(uint8(n - 90 + 8))
	case n >= 100 && n <= 107:
		s.Bg = PaletteColor(uint8(n - 100 + 8))
	}
}

// sgrColor reads an extended colour at i, in colon or semicolon form.
func sgrColor(p *params, i, sub int) (c Color, took int, ok bool) {
	if sub > 1 {
		switch p.raw(i + 1) {
		case 5:
			return indexed(p.raw(i + 2)), sub, sub >= 3 && p.raw(i+2) < 256
		case 2:
			at := i + 2
			if sub >= 6 { // with a colour space, mostly empty
				at++
			}
			c, ok = rgb(p, at)
			return c, sub, ok && sub >= 5
		}
		return 0, sub, false
	}
	if i+1 >= p.n {
		return 0, 1, false
	}
	switch p.raw(i + 1) {
	case 5:
		return indexed(p.raw(i + 2)), 3, i+2 < p.n && p.raw(i+2) < 256
	case 2:
		c, ok = rgb(p, i+2)
		return c, 5, ok
	}
	return 0, 2, false
}

func indexed(n int) Color { return PaletteColor(uint8(n)) }

func rgb(p *params, i int) (Color, bool) {
	if i+3 > p.n {
		return 0, false
	}
	r, g, b := p.raw(i), p.raw(i+1), p.raw(i+2)
	return RGBColor(uint8(r), uint8(g), uint8(b)), r < 256 && g < 256 && b < 256
}
