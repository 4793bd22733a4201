package said

import (
	"strings"

	"orchestrator/thread/pattern"
)

// Editors obey lines of a text that set options: vim the first and last ones of a file (five, unless the person has set
// more), Emacs its first two and a list near its end.
const (
	modelineReach = 50
	localsReach   = 16000 // bytes: Emacs looks at 3,000 characters
)

var (
	modeline = pattern.Lazy(`(^|\s)(vi|ex|[vV]im[<=>]?[0-9]*):`)
	locals   = pattern.Lazy(`(?i)(local variables):`)
)

// unobeyed returns a text in which no editor finds options to set: where it looks for them, what begins them is parted by
// a blank. Everything else stays as it was said.
func unobeyed(text string) string {
	lines := strings.Split(text, "\n")
	size := 0
	for i := len(lines) - 1; i >= 0; i-- {
		if i < modelineReach || i >= len(lines)-modelineReach {
			lines[i] = modeline().ReplaceAllString(lines[i], "$1$2 :")
		}
		if size <= localsReach {
			lines[i] = locals().ReplaceAllString(lines[i], "$1 :")
		}
		size += len(lines[i]) + 1
	}
	for i := range min(len(lines), 2) {
		for strings.Contains(lines[i], "-*-") { // two may share a dash
			lines[i] = strings.ReplaceAll(lines[i], "-*-", "- * -")
		}
	}
	return strings.Join(lines, "\n")
}
