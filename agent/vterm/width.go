package vterm

import (
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// runeWidth returns the cells of a single code point: 0, 1 or 2.
func runeWidth(r rune) int {
	switch {
	case r < 0x7f, r >= 0xa0 && r < 0x300 && r != 0xad:
		return 1
	case r >= 0x2500 && r < 0x25a0:
		return 1
	case r >= 0x4e00 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3, r >= 0x3041 && r <= 0x3096:
		return 2
	case r == 0xad:
		return 1
	case r == 0xfffd:
		return 1
	}
	w := displaywidth.Rune(r)
	if w == 0 && !mayExtend(r) && !invisible(r) {
		return 1 // signs with a width of their own, such as the Arabic number sign
	}
	return w
}

// mayExtend reports whether a code point can join the character before it whatever that is: marks, joiners,
// variation selectors, emoji modifiers and tags, the second regional indicator, Hangul vowels and finals.
func mayExtend(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case r >= 0x2500 && r < 0x2cef, r >= 0x2e80 && r < 0x302a, r >= 0x3400 && r < 0xa66f, r >= 0xac00 && r <= 0xd7a3:
		return false
	case r == 0x200c, r == 0x200d, r == 0xff9e, r == 0xff9f:
		return true
	case r >= 0x1160 && r < 0x1200, r >= 0xd7b0 && r < 0xd800:
		return true
	case r >= 0x1f1e6 && r <= 0x1f1ff, r >= 0x1f3fb && r <= 0x1f3ff, r >= 0xe0020 && r <= 0xe007f:
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc)
}

// invites reports whether a single code point can be joined by one that mayExtend is false for.
func invites(r rune) bool {
	switch {
	case r < 0x600:
		return false
	case r >= 0x1100 && r < 0x1160, r >= 0xa960 && r < 0xa980: // Hangul initials
		return true
	case r < 0x900:
		return unicode.Is(unicode.Cf, r)
	case r == 0x110bd, r == 0x110cd, r == 0xd4e, r == 0x111c2, r == 0x111c3:
		return true
	}
	return false
}

// invisible reports whether a code point without width is dropped instead of kept with its neighbour:
// direction marks and overrides, zero-width spaces, and other format characters that let a text look like
// another one.
func invisible(r rune) bool {
	switch {
	case r == 0x200c || r == 0x200d:
		return false
	case r < 0xa0, r == 0x61c, r == 0xfeff, r == 0x180e:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb:
		return true
	case r >= 0xe0000 && r < 0xe0020:
		return true
	}
	return false
}

// oneCluster reports whether a text is a single grapheme, and its width.
func oneCluster(s []byte) (width int, ok bool) {
	it := displaywidth.BytesGraphemes(s)
	if !it.Next() || len(it.Value()) != len(s) {
		return 0, false
	}
	return min(it.Width(), 2), true
}

// emojiBase reports whether a variation selector can make an emoji of the text.
func emojiBase(s []byte) bool {
	r, _ := utf8.DecodeRune(s)
	return r >= 0x2000 || r == 0xa9 || r == 0xae || r == '#' || r == '*' || r >= '0' && r <= '9'
}
