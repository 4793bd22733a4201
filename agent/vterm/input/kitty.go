package input

import (
	"strconv"
	"unicode"

	"orchestrator/agent/vterm"
)

// Kitty keyboard flags.
const (
	kittyDisambiguate = 1 << iota
	kittyEvents
	kittyAlternates
	kittyAll
	kittyText
)

// kitty writes a key in the kitty keyboard protocol.
func kitty(dst []byte, k Key, m vterm.Modes) []byte {
	flags := m.Kitty
	event := 1
	if flags&kittyEvents != 0 {
		event = int(k.Action) + 1
	}
	mods := int(k.Mod) + 1
	if s, ok := specialOf(k.Code); ok {
		return kittySpecial(dst, k, s, mods, event, flags)
	}
	if k.Code >= KeyF1 && k.Code <= KeyF1+34 {
		k.Code = KeyF13 + (k.Code - KeyFn(13))
	}
	all := flags&kittyAll != 0
	// Plain text stays plain text while caps lock or num lock is on.
	chord := k.Mod &^ (Shift | CapsLock | NumLock)
	if !all {
		if k.Code >= 57441 && k.Code <= kittyLast || k.Code == KeyCapsLock || k.Code == KeyCapsLock+2 {
			return dst // modifiers alone are reported with all keys only
		}
		switch k.Code {
		case KeyEnter, KeyTab, KeyBackspace:
			if k.Mod&^(CapsLock|NumLock) == 0 {
				if event == 3 {
					return dst
				}
				return append(dst, byte(k.Code))
			}
		case KeyEscape:
			if flags == kittyEvents && event < 3 && chord == 0 {
				return append(dst, 0x1b)
			}
		default:
			if text := typed(k); text != "" && chord == 0 && k.Code < KeyCapsLock {
				if event == 3 {
					return kittyU(dst, k, mods, event, flags)
				}
				return append(dst, text...)
			}
			if flags&kittyDisambiguate == 0 && event < 3 {
				return legacy(dst, k, m)
			}
		}
	}
	return kittyU(dst, k, mods, event, flags)
}

// kittySpecial writes keys that kept their old form with a number or letter.
func kittySpecial(dst []byte, k Key, s special, mods, event int, flags uint8) []byte {
	if k.Code == KeyFn(3) { // CSI R would be a cursor position
		s = special{num: 13}
	}
	if n := int(k.Code-KeyF1) + 1; n >= 13 && n <= 35 {
		k.Code = KeyF13 + rune(n-13)
		return kittyU(dst, k, mods, event, flags)
	}
	return appendSpecial(dst, s, mods, event)
}

// kittyU writes CSI code:shifted:base ; mods:event ; text u.
func kittyU(dst []byte, k Key, mods, event int, flags uint8) []byte {
	code := k.Code
	if unicode.IsUpper(code) && code < KeyCapsLock {
		code = unicode.ToLower(code)
	}
	dst = append(dst, "\x1b["...)
	dst = strconv.AppendInt(dst, int64(code), 10)
	if flags&kittyAlternates != 0 {
		shifted := rune(0)
		if k.Mod&Shift != 0 && k.Shifted != 0 && k.Shifted != code {
			shifted = k.Shifted
		}
		base := k.Base
		if base == code {
			base = 0
		}
		if shifted != 0 || base != 0 {
			dst = append(dst, ':')
			if shifted != 0 {
				dst = strconv.AppendInt(dst, int64(shifted), 10)
			}
			if base != 0 {
				dst = append(dst, ':')
				dst = strconv.AppendInt(dst, int64(base), 10)
			}
		}
	}
	text := ""
	if flags&kittyText != 0 && flags&kittyAll != 0 && event != 3 &&
		k.Mod&(Ctrl|Alt|Super|Hyper|Meta) == 0 && k.Code < KeyCapsLock {
		text = typed(k)
	}
	if mods != 1 || event > 1 {
		dst = appendMods(append(dst, ';'), mods, event)
	} else if text != "" {
		dst = append(dst, ';')
	}
	for i, r := range []rune(text) {
		if i == 0 {
			dst = append(dst, ';')
		} else {
			dst = append(dst, ':')
		}
		dst = strconv.AppendInt(dst, int64(r), 10)
	}
	return append(dst, 'u')
}
