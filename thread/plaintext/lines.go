package plaintext

import (
	"fmt"
	"strings"
)

// FirstLine returns the first non-blank line of a text.
func FirstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// LastLine returns the last non-blank line of a text: the parts of an answer are in several places of a transcript, and
// this line is in the last one.
func LastLine(s string) string {
	last := ""
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			last = line
		}
	}
	return last
}

// OneLine joins a text's lines and cuts it to n bytes.
func OneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= n {
		return s
	}
	return Cut(s, n) + "…"
}

// Count formats a count with its noun: "1 file", "2 files".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
