package manager

import (
	"slices"
	"strings"

	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

func joinPrompts(parts ...string) string {
	return strings.TrimSpace(strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n"))
}

// titleOf is what a prompt calls a thread: its first line, without the secrets in it. Names go to branches,
// worktrees and searches; the prompt itself is kept by the conversation alone.
func titleOf(prompt string) string { return plaintext.FirstLine(secret.Redact(prompt)) }

// slugOf returns a name without its digits.
func slugOf(name string) string { return name[:max(0, len(name)-5)] }
