package sqlite

import (
	"context"
	"time"
)

// Report says what was found damaged at the start, and what became of it.
type Report struct {
	// Quarantined is where the damaged file lies now.
	Quarantined string
	// Cause is what was wrong with it.
	Cause string
	// Threads and Checkpoints are how many were copied whole.
	Threads, Checkpoints int
	// Dropped names what could not be, for people.
	Dropped []string
}

// Report returns what Open repaired, nil when nothing was damaged.
func (s *Store) Report() *Report { return s.report }

func rescue(_ context.Context, _ string, _ time.Time, cause error) (*Report, error) {
	return nil, cause
}
