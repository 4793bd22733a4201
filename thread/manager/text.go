package manager

import (
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// counted formats a count with its noun: "1 file", "2 files".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// firstLine returns the first non-blank line of a text.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// oneLine joins a text's lines and cuts it.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= n {
		return s
	}
	return plaintext.Cut(s, n) + "…"
}

func quote(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n> ")
}

func joinPrompts(parts ...string) string {
	return strings.TrimSpace(strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n"))
}

// titleOf is the title that a prompt gives a thread: its first line, with secrets redacted. Names appear in branches,
// worktrees and searches; only the conversation keeps the prompt itself.
func titleOf(prompt string) string { return firstLine(secret.Redact(prompt)) }

// slugOf returns a name without its digits.
func slugOf(name string) string { return name[:max(0, len(name)-5)] }
