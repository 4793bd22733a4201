package runner

import (
	"strings"
	"unicode"
)

// words splits a line into words as a shell does, honouring quotes and backslashes but expanding nothing. It returns
// false if a quote is not closed.
func words(s string) (out []string, closed bool) {
	var word strings.Builder
	var quote rune
	begun, escaped := false, false
	for _, r := range s {
		switch {
		case escaped:
			if quote == '"' && r != '"' && r != '\\' {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			begun, escaped = true, true
		case r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			begun, quote = true, r
		case unicode.IsSpace(r):
			if begun {
				out = append(out, word.String())
			}
			word.Reset()
			begun = false
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	if begun && !escaped {
		out = append(out, word.String())
	}
	return out, quote == 0 && !escaped
}
