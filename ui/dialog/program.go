package dialog

import (
	"strings"
	"unicode"
)

// programInput makes the field for what the agent that runs any program is to run.
func programInput() *Input { return &Input{Label: "Program", Hint: "program and its arguments"} }

// programOf returns the words of a program field, those given where it is empty, or says what is wrong with it.
func programOf(in *Input, otherwise []string) ([]string, string) {
	words, ok := words(in.Text.Value())
	switch {
	case !ok:
		return nil, "Program: a quotation mark is not closed"
	case len(words) == 0 && len(otherwise) == 0:
		return nil, "Enter a program"
	}
	return words, ""
}

// words splits a line as a shell does, and does nothing else that a shell does: blanks part words, quotation marks
// and backslashes keep them together. It reports false where a quotation mark is open at the end.
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
