package program

// dialog is a question to the person.
type dialog struct {
	asked
	at int
}

// key handles one key; true when the person has decided.
func (d *dialog) key(k key) bool {
	last := len(d.options) - 1
	switch k.kind {
	case keyUp:
		d.at = max(d.at-1, 0)
	case keyDown:
		d.at = min(d.at+1, last)
	case keyEnter:
		return true
	case keyEscape, keyCtrlC:
		d.at = -1
		if d.refusable() {
			d.at = last
		}
		return true
	case keyRune:
		switch n := int(k.text[0] - '1'); {
		case n >= 0 && n <= last && n < 9:
			d.at = n
			return true
		case d.refusable() && (k.text == "y" || k.text == "Y"):
			d.at = 0
			return true
		case d.refusable() && (k.text == "n" || k.text == "N"):
			d.at = last
			return true
		}
	default:
	}
	return false
}

// lines draws the dialog.
func (d *dialog) lines(s *screen) []line {
	out := s.wrapped(styleBold, "? ", "  ", d.question)
	if d.detail != "" {
		out = append(out, s.wrapped(styleBold, "  $ ", "    ", d.detail)...)
	}
	for i, o := range d.options {
		lead, style := "    ", styleNone
		if i == d.at {
			lead, style = "  ❯ ", styleAccent
		}
		option := lead + string(rune('1'+min(i, 8))) + ". " + flat(o)
		out = append(out, line{style: style, text: s.clipped(option, 1)})
	}
	return append(out, line{style: styleDim, text: "  enter to choose · esc for no"})
}
