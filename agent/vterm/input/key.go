package input

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	"orchestrator/agent/vterm"
)

// Mod is a set of modifiers, with the bits of the kitty protocol.
type Mod uint8

// The modifiers.
const (
	Shift Mod = 1 << iota
	Alt
	Ctrl
	Super
	Hyper
	Meta
	CapsLock
	NumLock
)

// Action is what happened to a key or button.
type Action uint8

// The actions.
const (
	Press Action = iota
	Repeat
	Release
	Motion // mouse only
)

// String names the action.
func (a Action) String() string {
	return [...]string{"press", "repeat", "release", "motion"}[min(a, Motion)]
}

// Keys without a character of their own. Enter, Tab, Escape and Backspace are their characters.
// The numbers from KeyCapsLock on are those of the kitty protocol.
const (
	KeyEnter     rune = '\r'
	KeyTab       rune = '\t'
	KeyEscape    rune = 0x1b
	KeyBackspace rune = 0x7f
)

// The other keys.
const (
	KeyUp rune = unicode.MaxRune + 1 + iota
	KeyDown
	KeyRight
	KeyLeft
	KeyHome
	KeyEnd
	KeyBegin
	KeyInsert
	KeyDelete
	KeyPageUp
	KeyPageDown
	KeyF1
)

// KeyFn gives function key n from 1 to 35.
func KeyFn(n int) rune { return KeyF1 + rune(n) - 1 }

// Keys that have only a number in the kitty protocol: KeyCapsLock to KeyMenu, the keypad from KeyKp0 to
// KeyKpBegin, media keys and the modifiers themselves.
const (
	KeyCapsLock   rune = 57358
	KeyMenu       rune = 57363
	KeyF13        rune = 57376
	KeyKp0        rune = 57399
	KeyKpDecimal  rune = 57409
	KeyKpDivide   rune = 57410
	KeyKpMultiply rune = 57411
	KeyKpSubtract rune = 57412
	KeyKpAdd      rune = 57413
	KeyKpEnter    rune = 57414
	KeyKpEqual    rune = 57415
	KeyKpSep      rune = 57416
	KeyKpLeft     rune = 57417
	KeyKpBegin    rune = 57427
	kittyLast     rune = 57454
)

// Key is one event of a key. Code is the key without modifiers ('a' also for A) or one of the constants;
// Shifted and Base are the key with shift and its place on a US keyboard, 0 if unknown; Text is what it
// types, if it does.
type Key struct {
	Code    rune
	Shifted rune
	Base    rune
	Text    string
	Mod     Mod
	Action  Action
}

// Kitty keyboard flags.
const (
	kittyDisambiguate = 1 << iota
	kittyEvents
	kittyAlternates
	kittyAll
	kittyText
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

// special is how a key without text is written: CSI number ~ or CSI letter.
type special struct {
	num    int
	letter byte
	ss3    bool // ESC O letter in application mode, or always for F1–F4
}

func specialOf(code rune) (special, bool) {
	switch code {
	case KeyUp:
		return special{1, 'A', true}, true
	case KeyDown:
		return special{1, 'B', true}, true
	case KeyRight:
		return special{1, 'C', true}, true
	case KeyLeft:
		return special{1, 'D', true}, true
	case KeyHome:
		return special{1, 'H', true}, true
	case KeyEnd:
		return special{1, 'F', true}, true
	case KeyBegin:
		return special{1, 'E', true}, true
	case KeyInsert:
		return special{num: 2}, true
	case KeyDelete:
		return special{num: 3}, true
	case KeyPageUp:
		return special{num: 5}, true
	case KeyPageDown:
		return special{num: 6}, true
	}
	if n := int(code-KeyF1) + 1; n >= 1 && n <= 35 {
		return functionKey(n)
	}
	return special{}, false
}

// functionNumbers are the numbers of F5–F20.
var functionNumbers = [...]int{15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34}

func functionKey(n int) (special, bool) {
	if n <= 4 {
		return special{1, 'P' + byte(n-1), true}, true
	}
	if n-5 < len(functionNumbers) {
		return special{num: functionNumbers[n-5]}, true
	}
	return special{}, false
}

// appendSpecial writes CSI num;mods letter, leaving out what is 1.
func appendSpecial(dst []byte, s special, mods, event int) []byte {
	dst = append(dst, "\x1b["...)
	plain := mods == 1 && event <= 1
	if s.letter == 0 || !plain {
		dst = strconv.AppendInt(dst, int64(s.num), 10)
	}
	if !plain {
		dst = appendMods(append(dst, ';'), mods, event)
	}
	if s.letter != 0 {
		return append(dst, s.letter)
	}
	return append(dst, '~')
}

func appendMods(dst []byte, mods, event int) []byte {
	dst = strconv.AppendInt(dst, int64(mods), 10)
	if event > 1 {
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(event), 10)
	}
	return dst
}

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

// typed is the text of a key, made from its code where the event brings none.
func typed(k Key) string {
	if k.Text != "" {
		return printable(k.Text)
	}
	code := k.Code
	if k.Mod&Shift != 0 {
		if k.Shifted != 0 {
			code = k.Shifted
		} else {
			code = unicode.ToUpper(code)
		}
	}
	if !utf8.ValidRune(code) || unicode.IsControl(code) {
		return ""
	}
	return string(code)
}

// printable leaves out control characters that a text event should not hold.
func printable(s string) string {
	for _, r := range s {
		if unicode.IsControl(r) {
			return ""
		}
	}
	return s
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
	moves := [...]rune{KeyLeft, KeyRight, KeyUp, KeyDown, KeyPageUp, KeyPageDown, KeyHome, KeyEnd, KeyInsert, KeyDelete, KeyBegin}
	if j := int(k.Code - KeyKpLeft); j < len(moves) {
		k.Code = moves[j]
		return legacy(dst, k, m)
	}
	return dst
}

// modified writes a key for modifyOtherKeys; false if the legacy form stands.
func modified(dst []byte, k Key, m vterm.Modes) ([]byte, bool) {
	mods := k.Mod & (Shift | Alt | Ctrl | Meta)
	if _, ok := specialOf(k.Code); ok || mods == 0 || k.Code >= KeyCapsLock && k.Code <= kittyLast || k.Action == Release {
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

// hasControl tells whether a modified key has a well-known legacy form.
func hasControl(k Key) bool {
	if k.Mod&Ctrl == 0 {
		return true
	}
	return k.Mod&Shift == 0 && (k.Code >= 'a' && k.Code <= 'z' || k.Code >= '[' && k.Code <= '_' || k.Code == ' ' || k.Code == '@')
}
