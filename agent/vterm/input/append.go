package input

import (
	"unicode/utf8"

	"orchestrator/agent/vterm"
)

// AppendKey appends the bytes of a key event; none if the program does not want it.
func AppendKey(dst []byte, k Key, m vterm.Modes) []byte {
	if k.Action == Release && m.Kitty&kittyEvents == 0 {
		return dst
	}
	if m.Kitty != 0 {
		return kitty(dst, k, m)
	}
	if m.ModifyOther > 0 {
		if out, ok := modified(dst, k, m); ok {
			return out
		}
	}
	return legacy(dst, k, m)
}

// AppendFocus tells the program that its terminal got or lost the focus, if it wants to know.
func AppendFocus(dst []byte, focused bool, m vterm.Modes) []byte {
	if !m.Focus {
		return dst
	}
	if focused {
		return append(dst, "\x1b[I"...)
	}
	return append(dst, "\x1b[O"...)
}

// AppendPaste appends a pasted text, in brackets if the program asked for them. Control characters other
// than tab and line feed are left out, so the text can neither end the bracket nor press keys; line ends
// become returns, as a keyboard would send them.
func AppendPaste(dst []byte, text string, m vterm.Modes) []byte {
	if m.BracketedPaste {
		dst = append(dst, "\x1b[200~"...)
	}
	last := rune(0)
	for _, r := range text {
		switch {
		case r == '\n' && last == '\r':
		case r == '\n', r == '\r':
			dst = append(dst, '\r')
		case r < 0x20 && r != '\t', r >= 0x7f && r < 0xa0:
		default:
			dst = utf8.AppendRune(dst, r)
		}
		last = r
	}
	if m.BracketedPaste {
		dst = append(dst, "\x1b[201~"...)
	}
	return dst
}
