package thread

import (
	"strings"

	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// MaxExcerpt is the most bytes of a prompt or answer in a checkpoint.
const MaxExcerpt = 2000

// Excerpt cuts a text to the length that a checkpoint keeps for lists and searches, and redacts secrets: the
// conversation has the whole text.
func Excerpt(s string) string {
	if s = secret.Redact(s); len(s) > MaxExcerpt {
		return strings.Clone(plaintext.Cut(s, MaxExcerpt)) // it must not keep the whole in memory
	}
	return s
}

// Shown is Excerpt for what a person decides by: a cut is seen.
func Shown(s string) string {
	const mark = "\u2026 (cut)"
	if s = secret.Redact(s); len(s) > MaxExcerpt {
		return plaintext.Cut(s, MaxExcerpt-len(mark)) + mark
	}
	return s
}
