package manager

import (
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// reason is an error for people, in one line without secrets.
func reason(err error) string { return line(err.Error()) }

// line is the first line of a text for people, without secrets and not too long.
func line(text string) string { return plaintext.Cut(secret.Redact(plaintext.FirstLine(text)), 500) }
