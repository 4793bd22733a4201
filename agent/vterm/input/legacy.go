package input

import "orchestrator/agent/vterm"

// legacy writes a key as terminals did before there were keyboard protocols.
func legacy(dst []byte, k Key, m vterm.Modes) []byte {
	if k.Action == Release {
		return dst
	}
	mods := k.Mod & (Shift | Alt | Ctrl | Meta)
	if s, ok := specialOf(k.Code); ok {
		cursor := m.AppCursor || k.Code >= KeyF1
		if s.ss3 && cursor && mods == 0 {
			return append(dst, 0x1b, 'O', s.letter)
		}
		return appendSpecial(dst, s, int(mods)+1, 1)
	}
	if k.Code >= KeyKp0 && k.Code <= KeyKpBegin {
		return keypad(dst, k, m)
	}
	if k.Code >= KeyCapsLock && k.Code <= kittyLast {
		return dst
	}
	if k.Code == KeyTab && mods&Shift != 0 {
		if mods&Alt != 0 {
			dst = append(dst, 0x1b)
		}
		return append(dst, "\x1b[Z"...)
	}
	if mods&(Alt|Meta) != 0 {
		dst = append(dst, 0x1b)
	}
	if mods&Ctrl != 0 {
		return control(dst, k)
	}
	switch k.Code {
	case KeyEnter:
		if m.NewLine {
			return append(dst, "\r\n"...)
		}
		return append(dst, '\r')
	case KeyTab, KeyEscape, KeyBackspace:
		return append(dst, byte(k.Code))
	}
	return append(dst, typed(k)...)
}

// control writes ctrl and a key.
func control(dst []byte, k Key) []byte {
	c := k.Code
	switch {
	case c >= 'a' && c <= 'z' || c >= '@' && c <= '_':
		return append(dst, byte(c)&0x1f)
	case c == ' ' || c == '2' || c == '`':
		return append(dst, 0)
	case c >= '3' && c <= '7':
		return append(dst, byte(c-'3')+0x1b)
	case c == '8' || c == '?':
		return append(dst, 0x7f)
	case c == '/' || c == '-':
		return append(dst, 0x1f)
	case c == KeyBackspace:
		return append(dst, '\b')
	case c == KeyEnter, c == KeyTab, c == KeyEscape:
		return append(dst, byte(c))
	}
	k.Mod &^= Ctrl
	return append(dst, typed(k)...)
}

// keypadLetters are the final bytes of the keypad in application mode, from KeyKp0.
const keypadLetters = "pqrstuvwxynojmkMXl"

func keypad(dst []byte, k Key, m vterm.Modes) []byte {
	i := int(k.Code - KeyKp0)
	if i < len(keypadLetters) {
		if m.AppKeypad {
			return append(dst, 0x1b, 'O', keypadLetters[i])
		}
		if k.Text != "" {
			return append(dst, printable(k.Text)...)
		}
		return append(dst, "0123456789./*-+\r=,"[i])
	}
	moves := [...]rune{
		KeyLeft, KeyRight, KeyUp, KeyDown, KeyPageUp, KeyPageDown, KeyHome, KeyEnd, KeyInsert, KeyDelete, KeyBegin,
	}
	if j := int(k.Code - KeyKpLeft); j < len(moves) {
		k.Code = moves[j]
		return legacy(dst, k, m)
	}
	return dst
}
