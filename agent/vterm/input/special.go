package input

import (
	"strconv"
)

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
