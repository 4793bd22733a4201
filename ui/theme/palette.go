package theme

import (
	"image/color"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// hue is a colour on a dark and on a light background. The zero value is the terminal's default.
type hue struct {
	set         bool
	dark, light uint32 // 0xRRGGBB
	basic       [2]int // of 16, on dark and on light; -1 for the terminal's default
}

// own is the terminal's default colour with 16 colours.
const own = -1

func of(dark, light uint32, basic, basicLight int) hue {
	return hue{set: true, dark: dark, light: light, basic: [2]int{basic, basicLight}}
}

// on returns the colour as a terminal can show it, or nil for the terminal's default. With 256 colours it is a lighter one
// rather than a darker one, or the other way round, so that no contrast is lost.
func (h hue) on(p colorprofile.Profile, dark, lighter bool) color.Color {
	hex, basic := h.dark, h.basic[0]
	if !dark {
		hex, basic = h.light, h.basic[1]
	}
	switch c := rgb(hex); {
	case !h.set || p == colorprofile.ANSI && basic == own:
		return nil
	case p == colorprofile.ANSI:
		return ansi.BasicColor(basic) //nolint:gosec // one of 16
	case p == colorprofile.ANSI256:
		return ansi.IndexedColor(beyond256(c.R, c.G, c.B, lighter))
	default:
		return c
	}
}

// palette has the colours of a scheme.
type palette struct {
	text, muted, title, rule                     hue
	amber, teal, blue, pale, red, green, yellow  hue
	violet, hunk                                 hue
	tint, onTint, focus, onFocus, match, onMatch hue
	add, del, addGround, onAdd, delGround, onDel hue
	fills                                        [9]hue
}

// calm is our own scheme. Text is in the terminal's default colour.
func calm() palette {
	return palette{
		muted: of(0x959dab, 0x59606c, 8, 8), title: of(0xaab2c0, 0x4b5260, 7, 8), rule: of(0x646c7b, 0x868d99, 8, 8),
		amber: of(0xffaf5f, 0x9a4700, 11, 5), teal: of(0x5fd7d7, 0x00697a, 14, 6), blue: of(0x5fafff, 0x005ab4, 12, 4),
		pale: of(0x87d7ff, 0x005f9f, 14, 6), red: of(0xff8787, 0xb81823, 9, 1), green: of(0x87d787, 0x166b2e, 10, 2),
		yellow: of(0xffd75f, 0x7c5700, 11, 3), violet: of(0xd7afff, 0x6f3fa8, 13, 5), hunk: of(0x87afff, 0x3a55b4, 12, 4),
		tint: of(0x262c36, 0xe4e8ee, 8, 7), onTint: hue{set: true, dark: 0xffffff, light: 0, basic: [2]int{15, 0}},
		focus: of(0x1b3f63, 0xcfe3fa, 4, 4), onFocus: of(0xffffff, 0x000000, 15, 15),
		match: of(0xffd75f, 0xffdf6f, 3, 3), onMatch: of(0x1c1c1c, 0x1c1c1c, 0, 0),
		add: of(0x9fe09f, 0x14602b, 10, 2), del: of(0xff9f9f, 0xa3121d, 9, 1),
		addGround: of(0x1f5f33, 0xabe5b9, 2, 2), onAdd: of(0xd7ffd7, 0x0b3d1a, 0, 0),
		delGround: of(0x7a2530, 0xffc4c8, 1, 1), onDel: of(0xffe0e0, 0x5c0a11, 0, 0),
		fills: [9]hue{of(0x7aa2f7, 0x2f4fb0, 12, 4), of(0xb79cf0, 0x6f3fa8, 13, 5), of(0xc8ced8, 0x4b5260, 15, 0),
			of(0xd99a6c, 0xa8430c, 3, 1), of(0x73c991, 0x166b2e, 10, 2), of(0x56c2c9, 0x00697a, 14, 6),
			of(0xd9c36a, 0x7c5700, 11, 3), of(0xe090b4, 0xa3306f, 5, 13), of(0x959dab, 0x626975, 8, 8)},
	}
}

// contrasting is the scheme Contrast.
func contrasting() palette {
	p := palette{
		text: of(0xffffff, 0x000000, 15, 0), muted: of(0xd2d7df, 0x383d46, 7, 0), title: of(0xe4e7ec, 0x24282f, 15, 0),
		rule: of(0xbcc3ce, 0x484e59, 7, 0), amber: of(0xffd08a, 0x5e2b00, 11, 5), teal: of(0x8ef0f0, 0x004651, 14, 4),
		blue: of(0xaad6ff, 0x003878, 14, 4), pale: of(0xc6ecff, 0x003a63, 14, 4), red: of(0xffbcbc, 0x830a15, 9, 1),
		green: of(0xa8f0a8, 0x0a461d, 10, 2), yellow: of(0xffe48a, 0x4e3700, 11, 5), violet: of(0xe6d0ff, 0x49267a, 13, 5),
		hunk: of(0xc6d6ff, 0x24368a, 14, 4),
		tint: of(0x20262f, 0xe9edf3, 8, 7), onTint: of(0xffffff, 0x000000, 15, 0),
		focus: of(0x14304d, 0xdcebfc, 4, 4), onFocus: of(0xffffff, 0x000000, 15, 15),
		match: of(0xffe48a, 0xffe48a, 3, 3), onMatch: of(0x000000, 0x000000, 0, 0),
		addGround: of(0x124024, 0xc2f0cd, 2, 2), onAdd: of(0xe6ffe6, 0x062a11, 0, 0),
		delGround: of(0x5a1720, 0xffd9dc, 1, 1), onDel: of(0xffecec, 0x4a060c, 0, 0),
	}
	p.add, p.del = p.green, p.red
	p.fills = [9]hue{of(0xb0c8ff, 0x24368a, 12, 4), p.violet, of(0xe4e7ec, 0x24282f, 15, 0), of(0xf5c9a5, 0x6e2b06, 3, 1),
		p.green, p.teal, p.yellow, of(0xffbfdb, 0x76184c, 5, 13), of(0xc4cad4, 0x434a55, 7, 8)}
	return p
}
