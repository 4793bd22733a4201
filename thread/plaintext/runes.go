package plaintext

import "unicode"

// Characters that are harmful or not depending on their neighbours.
const (
	nonJoiner = 0x200c
	joiner    = 0x200d
	textStyle = 0xfe0e // shows the character before it as text
	emoji     = 0xfe0f // shows the character before it as an emoji
	keycap    = 0x20e3
)

// Visible reports whether a rune may be shown unchanged anywhere: it is not a control character, reorders nothing and
// can be seen.
func Visible(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return false
	case r < 0xad:
		return true
	case r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0xfeff,
		r >= 0x17b4 && r <= 0x17b5, r >= 0x180b && r <= 0x180f,
		r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
		r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff0 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff, r&0xfffe == 0xfffe:
		return false
	}
	if unicode.Is(unicode.Cf, r) {
		return unicode.Is(unicode.Prepended_Concatenation_Mark, r) // visible signs of Arabic and Syriac
	}
	return !unicode.In(r, unicode.Co, unicode.Cs)
}

// combines reports whether a rune is drawn onto the one before it.
func combines(r rune) bool { return r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me) }

// joining are the scripts whose letters change their shape next to a joiner or non-joiner.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian, unicode.Phags_Pa, unicode.Adlam,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese,
	unicode.Javanese,
}

// mayJoin reports whether a rune can be judged only with the next one: it may join the previous one to it.
func mayJoin(prev, r rune) bool {
	switch r {
	case nonJoiner:
		return unicode.In(prev, joining...)
	case joiner:
		return pictures(prev) || unicode.In(prev, joining...)
	case emoji:
		return keys(prev)
	}
	return false
}

// joins reports whether a rune for which mayJoin holds does join.
func joins(prev, r, next rune) bool {
	switch {
	case r == emoji:
		return next == keycap
	case r == joiner && pictures(prev):
		return next != emoji && next != textStyle && pictures(next)
	}
	return unicode.In(next, joining...)
}

// varies reports whether a rune selects a form of the one before it: of an emoji, an ideograph or a Mongolian letter.
// Only one may follow a character.
func varies(prev, r rune) bool {
	switch {
	case r == emoji, r == textStyle:
		return prev != emoji && prev != textStyle && pictures(prev)
	case r >= 0xfe00 && r <= 0xfe02, r >= 0xe0100 && r <= 0xe01ef:
		return unicode.Is(unicode.Han, prev)
	case r >= 0x180b && r <= 0x180d:
		return !(prev >= 0x180b && prev <= 0x180d) && unicode.Is(unicode.Mongolian, prev)
	}
	return false
}

// keys reports whether a character can be shown as a keycap: 1️⃣.
func keys(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// pictures reports whether a rune is, or ends, an emoji.
func pictures(r rune) bool {
	switch {
	case r >= 0x1f000 && r <= 0x1faff, r >= 0x2190 && r <= 0x2bff,
		r == 0xa9, r == 0xae, r == 0x203c, r == 0x2049, r == 0x2122, r == 0x2139,
		r == 0x3030, r == 0x303d, r == 0x3297, r == 0x3299, r == emoji:
		return true
	}
	return false
}
