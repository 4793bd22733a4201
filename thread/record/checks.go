package record

import (
	"context"

	"orchestrator/thread/work"
)

// Checks runs the checks of the project that the person has accepted.
type Checks interface {
	// Check runs those with some names, all that there are for none, in a folder, and returns what they said. It is bounded in
	// time and output. What was not accepted as it is now is thread.ErrRefused, and nothing runs.
	Check(ctx context.Context, r CheckRun) (work.Validation, error)
}

// CheckRun is what to run checks for.
type CheckRun struct {
	Execution string // its name
	Dir       string
	Only      []string
}
