package thread

import (
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// MaxExcerpt is the most bytes of a prompt or answer in a checkpoint.
const MaxExcerpt = 2000

// Excerpt cuts a text to what a checkpoint keeps of it for lists and searches, without the secrets in it: the
// conversation has it whole.
func Excerpt(s string) string { return plaintext.Cut(secret.Redact(s), MaxExcerpt) }
