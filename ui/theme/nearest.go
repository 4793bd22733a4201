package theme

import "orchestrator/agent/vterm"

// Nearest256 returns the closest of the 240 fixed colours (cube and grey ramp). It keeps greys grey; the terminal
// library turns some of them teal.
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

// beyond256 returns the closest of the 240 fixed colours that is not darker than a colour, or not lighter.
func beyond256(r, g, b uint8, lighter bool) uint8 {
	light := func(r, g, b uint8) int { // close enough to luminance to compare by
		return 2126*int(r)*int(r) + 7152*int(g)*int(g) + 722*int(b)*int(b)
	}
	want, best, found := light(r, g, b), -1, uint8(0)
	for n := uint8(255); n >= 16; n-- {
		pr, pg, pb := vterm.PaletteRGB(n)
		if is := light(pr, pg, pb); lighter && is < want || !lighter && is > want {
			continue
		}
		dr, dg, db := int(r)-int(pr), int(g)-int(pg), int(b)-int(pb)
		if d := dr*dr + dg*dg + db*db; best < 0 || d < best {
			best, found = d, n
		}
	}
	return found
}

// Nearest16 returns the closest of the 16 colours that every colour terminal has.
func Nearest16(r, g, b uint8) uint8 {
	best, found := -1, uint8(0)
	for n := range uint8(16) {
		pr, pg, pb := vterm.PaletteRGB(n)
		dr, dg, db := int(r)-int(pr), int(g)-int(pg), int(b)-int(pb)
		if d := 2*dr*dr + 4*dg*dg + 3*db*db; best < 0 || d < best { // weighted by perceived brightness
			best, found = d, n
		}
	}
	return found
}
