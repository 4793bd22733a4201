package vterm

import (
	"strconv"
	"strings"
)

// oscPalette is OSC 4: pairs of an index and a colour or "?".
func (t *Terminal) oscPalette(s string) {
	parts := strings.Split(s, ";")
	for i := 0; i+1 < len(parts); i += 2 {
		n, err := strconv.ParseUint(parts[i], 10, 8)
		if err != nil {
			continue
		}
		if parts[i+1] == "?" {
			r, g, b := t.resolve(PaletteColor(uint8(n)), 0)
			t.replyf("\x1b]4;%d;%s%s", n, xcolor(r, g, b), t.terminator())
			continue
		}
		if c, ok := parseColor(parts[i+1]); ok {
			if t.palette == nil {
				t.palette = make(map[uint8]Color)
			}
			t.palette[uint8(n)] = c
			t.touchAll()
		}
	}
}

func (t *Terminal) oscResetPalette(s string) {
	if s == "" {
		t.palette = nil
	}
	for _, part := range strings.Split(s, ";") {
		if n, err := strconv.ParseUint(part, 10, 8); err == nil {
			delete(t.palette, uint8(n))
		}
	}
	t.touchAll()
}

// oscColors is OSC 10–12: each further value belongs to the next number.
func (t *Terminal) oscColors(n int, s string) {
	for _, v := range strings.Split(s, ";") {
		slot, def := &t.fg, t.opts.Foreground
		switch n {
		case 11:
			slot, def = &t.bg, t.opts.Background
		case 12:
			slot = &t.cur
		}
		if n > 12 {
			return
		}
		if v == "?" {
			r, g, b := t.resolve(*slot, def)
			t.replyf("\x1b]%d;%s%s", n, xcolor(r, g, b), t.terminator())
		} else if c, ok := parseColor(v); ok {
			*slot = c
		}
		n++
	}
}
