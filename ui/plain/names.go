package plain

import (
	"fmt"
	"strconv"
	"strings"
)

// Names lists a few names and how many more there are.
func Names(names []string) string {
	const most = 3
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// Few names the first and counts the others: "docs-f9a0 +2".
func Few(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	default:
		return fmt.Sprintf("%s +%d", names[0], len(names)-1)
	}
}

// Count formats a number of things: "1 line", "2 lines".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Thousands formats a number with commas: "4,210".
func Thousands(n int) string {
	s := strconv.Itoa(n)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Excerpt returns the start of a text, on one line and quoted.
func Excerpt(text string, most int) string { return "“" + Cut(First(text), most) + "”" }
