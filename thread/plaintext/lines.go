package plaintext

import (
	"fmt"
	"strings"
)

// FirstLine returns the first line of a text that holds anything.
func FirstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// LastLine returns the last line of a text that holds anything: an answer of several parts stands in several places of
// a transcript, and this is in the last.
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

// Count says how many of something there are: "1 file", "2 files".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
