package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// class is the set of the expression's character classes that a character is in. It may be upper and lower at once:
// letters without case and marks are both.
type class uint8

const (
	letter  class = 1 << iota // \p{L}
	number                    // \p{N}
	space                     // \s
	newline                   // \r or \n
	upper                     // Lu Lt Lm Lo M
	lower                     // Ll Lm Lo M
)

// next returns the class and length of the first character, 0 at the end.
func next(s string) (class, int) {
	if s == "" {
		return 0, 0
	}
	if b := s[0]; b < utf8.RuneSelf {
		return asciiClass(b), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	return runeClass(r), n
}

func asciiClass(b byte) class {
	switch {
	case b >= 'a' && b <= 'z':
		return letter | lower
	case b >= 'A' && b <= 'Z':
		return letter | upper
	case b >= '0' && b <= '9':
		return number
	case b == '\n' || b == '\r':
		return space | newline
	case b == ' ' || b >= '\t' && b <= '\f':
		return space
	default:
		return 0
	}
}

func runeClass(r rune) class {
	switch {
	case unicode.Is(unicode.Ll, r):
		return letter | lower
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return letter | upper
	case unicode.Is(unicode.L, r): // only Lm and Lo are left
		return letter | upper | lower
	case unicode.Is(unicode.M, r):
		return upper | lower
	case unicode.Is(unicode.N, r):
		return number
	case unicode.IsSpace(r):
		return space
	default:
		return 0
	}
}

// run returns the length of the longest prefix of s whose characters all have a class of set.
func run(s string, set class) int {
	i := 0
	for {
		c, n := next(s[i:])
		if n == 0 || c&set == 0 {
			return i
		}
		i += n
	}
}

// contraction returns the length of a leading 's 't 're 've 'm 'll 'd in any case, 0 if s has none.
func contraction(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	one := s[1] | 0x20
	switch one {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(s) < 3 {
		return 0
	}
	switch two := s[2] | 0x20; {
	case one == 'r' && two == 'e', one == 'v' && two == 'e', one == 'l' && two == 'l':
		return 3
	}
	return 0
}

// splitO200k returns the length of the first piece of a non-empty text. It is a hand-written equivalent of the backtracking
// regular expression of o200k_base; the comments name the alternatives of that expression. The first two are words, each
// with a prefix [^\r\n\p{L}\p{N}]? and a contraction at the end: U*L+ and U+L*, where U is Lu Lt Lm Lo M and L is Ll Lm
// Lo M. For the others see splitRest.
func splitO200k(s string) int {
	c, n := next(s)
	prefix := c&(newline|letter|number) == 0
	if prefix {
		if end := lowerWord(s[n:]); end > 0 {
			return n + end
		}
	}
	if end := lowerWord(s); end > 0 {
		return end
	}
	if prefix {
		if end := upperWord(s[n:]); end > 0 {
			return n + end
		}
	}
	if end := upperWord(s); end > 0 {
		return end
	}
	return splitRest(s, c, n, "\r\n/")
}

// splitCl100k is splitO200k for cl100k_base, in which contractions stand alone and a word is [^\r\n\p{L}\p{N}]?\p{L}+.
func splitCl100k(s string) int {
	if end := contraction(s); end > 0 {
		return end
	}
	c, n := next(s)
	from := 0
	if c&(newline|letter|number) == 0 {
		from = n
	}
	if end := from + run(s[from:], letter); end > from {
		return end
	}
	return splitRest(s, c, n, "\r\n")
}

// lowerWord returns the length of U*L+ with a contraction, 0 for none. If no L follows the longest U*, the match is cut
// back to the last character that is both.
func lowerWord(s string) int {
	i, both := 0, 0 // both: end of the last character that is both U and L
	for {
		c, n := next(s[i:])
		if n == 0 || c&upper == 0 {
			break
		}
		i += n
		if c&lower != 0 {
			both = i
		}
	}
	if more := run(s[i:], lower); more > 0 {
		i += more
	} else {
		i = both
	}
	if i == 0 {
		return 0
	}
	return i + contraction(s[i:])
}

// upperWord returns the length of U+L* with a contraction, 0 for none.
func upperWord(s string) int {
	i := run(s, upper)
	if i == 0 {
		return 0
	}
	i += run(s[i:], lower)
	return i + contraction(s[i:])
}

// splitRest implements the alternatives after the words. c and n are of the first character, tail is what may follow other
// characters.
func splitRest(s string, c class, n int, tail string) int {
	if c&number != 0 { // \p{N}{1,3}
		for range 2 {
			more, size := next(s[n:])
			if more&number == 0 {
				break
			}
			n += size
		}
		return n
	}
	from := 0 // ?[^\s\p{L}\p{N}]+[tail]*
	if s[0] == ' ' {
		from = 1
	}
	if end := from + others(s[from:]); end > from {
		for end < len(s) && strings.IndexByte(tail, s[end]) >= 0 {
			end++
		}
		return end
	}
	// Of the white space: its end, the end of its last newline, the start of its last character.
	end, last, before := 0, 0, 0
	for {
		c, n := next(s[end:])
		if n == 0 || c&space == 0 {
			break
		}
		before = end
		end += n
		if c&newline != 0 {
			last = end
		}
	}
	switch {
	case last > 0: // \s*[\r\n]+
		return last
	case end == len(s) || before == 0: // \s+(?!\S) at the end of the text, and \s+
		return max(end, n)
	default: // \s+(?!\S) leaves the last character to the next piece
		return before
	}
}

// others returns the length of [^\s\p{L}\p{N}]+.
func others(s string) int {
	i := 0
	for {
		c, n := next(s[i:])
		if n == 0 || c&(space|letter|number) != 0 {
			return i
		}
		i += n
	}
}
