package masking

import (
	"fmt"
	"strings"
	"unicode"
)

// Stub returns the text that stands in place of a masked result. After it come the path of a file with the content and
// the token that gives it back, if they are not empty. It never changes for the same result, because providers cache
// requests by their bytes.
func Stub(tool string, lines int, tokens int64, path, token string) string {
	text := fmt.Sprintf("[Masked: %s returned %d lines, %d tokens]", word(tool), lines, tokens)
	for _, more := range []string{path, token} {
		if more != "" {
			text += " " + more
		}
	}
	return text
}

// word returns a tool's name as one short word, whatever the tool is called.
func word(tool string) string {
	const most = 100
	name := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != ' ' && r != '[' && r != ']' && r != unicode.ReplacementChar {
			return r
		}
		return -1
	}, strings.ToValidUTF8(tool, ""))
	if runes := []rune(name); len(runes) > most {
		name = string(runes[:most])
	}
	if name == "" {
		return "tool"
	}
	return name
}

// lines returns how many lines a text has.
func lines(text string) int {
	if text == "" {
		return 0
	}
	return 1 + strings.Count(strings.TrimSuffix(text, "\n"), "\n")
}
