package base

import (
	"log/slog"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/thread"
)

// Config configures a Watcher. All fields are required but Seen.
type Config struct {
	// Rewriter decides what is sent.
	Rewriter gateway.Rewriter
	// Count counts a text by an encoding, which Encoding returns for a model; Estimate says how many tokens so many bytes
	// likely have, and Factor by how much a model's provider counts more.
	Count    func(encoding, text string) int
	Encoding func(model string) string
	Estimate func(bytes int) int64
	Factor   func(model string) float64
	// Parts tells the texts of a thread's request apart, as thread.Slimmer does.
	Parts func(id thread.ID, texts []thread.BaseText) []thread.BaseText
	Store Store
	// Seen, if it is set, is told what a request sends before it is counted. It must not wait.
	Seen func(id thread.ID, r thread.FirstRequest)
	Now  func() time.Time
	Log  *slog.Logger
}

// Store keeps what is known of threads beyond the life of this process.
type Store interface {
	Keep(id thread.ID, first []byte) error
	// Last returns what was kept last, nil if there is nothing.
	Last(id thread.ID) ([]byte, error)
	Drop(id thread.ID) error
}
