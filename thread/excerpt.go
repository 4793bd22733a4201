package thread

import (
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// MaxExcerpt is the most bytes of a prompt or answer in a checkpoint.
const MaxExcerpt = 2000

// Excerpt cuts a text to the length that a checkpoint keeps for lists and searches, and redacts secrets: the
// conversation has the whole text.
func Excerpt(s string) string { return plaintext.Cut(secret.Redact(s), MaxExcerpt) }
