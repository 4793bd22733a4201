package handoff

import "strings"

// quote marks a text as quoted, line by line.
func quote(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n> ")
}
