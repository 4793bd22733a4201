package manager

import (
	"slices"
	"strings"
	"unicode"

	"orchestrator/thread"

	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

func joinPrompts(parts ...string) string {
	return strings.TrimSpace(strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n"))
}

// titleOf is the title that a prompt gives a thread: its first line, with secrets redacted. Names appear in branches,
// worktrees and searches; only the conversation keeps the prompt itself.
func titleOf(prompt string) string { return plaintext.FirstLine(secret.Redact(prompt)) }

// slugOf returns a name without its digits.
func slugOf(name string) string { return name[:max(0, len(name)-5)] }

// checkAsk rejects texts that cannot be sent.
func checkAsk(text string) error {
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }) {
		return thread.Kindf(thread.ErrInvalid, "empty text")
	}
	if len(text) > maxAsk {
		return thread.Hint(
			thread.Kindf(thread.ErrInvalid, "text of %d bytes is too long, the limit is %d", len(text), maxAsk),
			"put it in a file and name the file")
	}
	return nil
}
