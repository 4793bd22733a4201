package input

import (
	"strconv"
	"unicode"

	"orchestrator/agent/vterm"
)

// modified writes a key for modifyOtherKeys; false if it keeps its legacy form.
func modified(dst []byte, k Key, m vterm.Modes) ([]byte, bool) {
	mods := k.Mod & (Shift | Alt | Ctrl | Meta)
	_, special := specialOf(k.Code)
	if special || mods == 0 || k.Code >= KeyCapsLock && k.Code <= kittyLast || k.Action == Release {
		return dst, false
	}
	code := k.Code
	switch code {
	case KeyEnter, KeyEscape, KeyBackspace:
	case KeyTab:
		if mods == Shift {
			return dst, false
		}
	default:
		if mods == Shift {
			return dst, false
		}
		if m.ModifyOther < 2 && hasControl(k) {
			return dst, false
		}
		if mods&Shift != 0 && k.Shifted != 0 {
			code = k.Shifted
		} else if mods&Shift != 0 {
			code = unicode.ToUpper(code)
		}
	}
	if m.ModifyOther < 2 && (code == KeyBackspace || code == KeyEscape) {
		return dst, false
	}
	dst = append(dst, "\x1b[27;"...)
	dst = strconv.AppendInt(dst, int64(mods)+1, 10)
	dst = append(dst, ';')
	dst = strconv.AppendInt(dst, int64(code), 10)
	return append(dst, '~'), true
}

// hasControl reports whether a modified key has a well-known legacy form.
func hasControl(k Key) bool {
	if k.Mod&Ctrl == 0 {
		return true
	}
	c := k.Code
	return k.Mod&Shift == 0 && (c >= 'a' && c <= 'z' || c >= '[' && c <= '_' || c == ' ' || c == '@')
}
