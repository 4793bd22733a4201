package input

import (
	"unicode"
	"unicode/utf8"
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

// KeyFn returns function key n from 1 to 35.
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
