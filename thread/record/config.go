package record

import (
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Author is who records or asks: the zero value is the person.
type Author struct {
	Agent  bool
	Thread thread.ID // the agent's, "" if it is in none of this project
	// Reads is set for an agent that may read what others recorded.
	Reads bool
}

// Config is what a Book works with.
type Config struct {
	Store work.Record
	Now   func() time.Time
	// Host and User are written into each row.
	Host, User string
	// Root is the project's root.
	Root string
	// Files tells how files have changed; nil where that is not known, and deliverables are claims without figures.
	Files Files
}
