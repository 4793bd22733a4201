package manager

import (
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// counted says how many of something there are: "1 file", "2 files".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// firstLine returns the first line of a text that holds anything.
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

// titleOf is what a prompt calls a thread: its first line, without the secrets in it. Names go to branches,
// worktrees and searches; the prompt itself is kept by the conversation alone.
func titleOf(prompt string) string { return firstLine(secret.Redact(prompt)) }

// slugOf returns a name without its digits.
func slugOf(name string) string { return name[:max(0, len(name)-5)] }
