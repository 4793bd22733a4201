// Package glyph lists every character beyond ASCII that the interface draws, and says what stands for it where a terminal
// cannot show it: one ASCII character of the same width. Nothing else may be drawn; a test reads the sources for it.
//
// All are in DejaVu Sans Mono, Menlo and Cascadia, the fonts that terminals of Linux, macOS and Windows begin with: read
// from the cmap of the regular DejaVu Sans Mono 2.37, of Meslo LG 1.2.1 (which is Menlo with other line gaps), and from the sources of
// Cascadia Code 2407. Not in all three are, for example, braille, U+2387, U+2442, U+23BF, U+29C9, U+22EE, U+21B3, U+2717,
// U+26A0 and U+2726. The marks of what does something in foreign text (control pictures, U+FFFD) are not ours.
package glyph

import (
	"strings"
	"unicode/utf8"
)

// Set is what a terminal can show.
type Set uint8

// The sets.
const (
	Unicode Set = iota
	// ASCII replaces our own glyphs, for fonts that do not have them. What agents and people wrote is shown as they wrote
	// it, but for those of its characters that we draw too.
	ASCII
	// Bytes shows ASCII only: the terminal takes no UTF-8.
	Bytes
)

// Spinner are the frames of the mark of what works. Its first one is what the mark is where nothing turns.
const Spinner = "◐◓◑◒"

// Unknown stands for each cell of a character that Bytes cannot show.
const Unknown = '?'

// Of returns what stands in ASCII for a character that we draw, and whether it is one.
func Of(r rune) (byte, bool) {
	if i := strings.IndexRune(ours, r); i >= 0 && r >= utf8.RuneSelf {
		return instead[utf8.RuneCountInString(ours[:i])], true
	}
	switch {
	case r >= 0x2500 && r <= 0x257f: // where rules meet
		return '+', true
	case r > 0x2400 && r <= 0x2421: // control pictures, with which package plaintext shows characters that do something
		return '^', true
	case r == utf8.RuneError:
		return Unknown, true
	}
	return 0, false
}

// Ours, and what stands for them: marks of states, the gauge and bars, rules, and signs.
const (
	ours    = "◆◇●○◌◉◐◓◑◒▲■□▒░▓█▁▂▃▄▅▆▇▐▌" + "━─╌╍┊│┃╱" + "▸▾◂‹›❯←→↑↓" + "·•…×−–±≈≠✓“”"
	instead = "!?*ocO|/-\\^#_:.%#_.,-=+*#>" + "=--=:||/" + ">v<<>><>^v" + "-*~x--+~/v\"\""
)

// Shown returns what is shown for a character of a width: itself, or as much ASCII.
func (s Set) Shown(char string, width int) string {
	if s == Unicode || len(char) < 2 {
		return char
	}
	r, n := utf8.DecodeRuneInString(char)
	if width == 1 && n == len(char) {
		if b, ok := Of(r); ok {
			return string(rune(b))
		}
	}
	if s == ASCII {
		return char
	}
	return strings.Repeat(string(Unknown), width)
}

// Text returns a line as it is shown where its width does not matter, such as in a window's title.
func (s Set) Text(line string) string {
	if s == Unicode {
		return line
	}
	return strings.Map(func(r rune) rune {
		if b, ok := Of(r); ok {
			return rune(b)
		}
		if s == Bytes && r >= utf8.RuneSelf {
			return Unknown
		}
		return r
	}, line)
}
