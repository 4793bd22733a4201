package snapshot

import (
	"time"

	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
)

// About is what a snapshot's commit records about its thread.
type About = repository.About

// note is what a snapshot's commit says besides its first line.
type note struct {
	Version int           `json:"version"`
	Thread  thread.ID     `json:"thread"`
	Base    string        `json:"base,omitempty"`
	Skipped []thread.Skip `json:"skipped,omitempty"`
	At      time.Time     `json:"at,omitzero"`
	About   About         `json:"about,omitzero"`
}
