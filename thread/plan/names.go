package plan

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// excerpt is a name from outside as findings have it.
func excerpt(name string) string {
	return plaintext.Line(plaintext.OneLine(thread.Excerpt(name), MaxName+8))
}

// excerptList is a list of names from outside as findings have it.
func excerptList(names []string) string {
	const most = 10
	shown := make([]string, 0, most+1)
	for i, n := range names {
		if i == most {
			shown = append(shown, fmt.Sprintf("and %d more", len(names)-most))
			break
		}
		shown = append(shown, excerpt(n))
	}
	return strings.Join(shown, ", ")
}

// validName reports whether a name is one that agents, gates, plans and variables can have.
func validName(name string) bool {
	if name == "" || len(name) > MaxName+len("-gate") {
		return false
	}
	for i, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case i > 0 && (c == '-' || c == '_'):
		default:
			return false
		}
	}
	return true
}
