package server

import (
	"context"

	"orchestrator/checkpoint/git"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// checks runs the project's checks where they were accepted for: in the root of a worktree.
type checks struct{ record.Checks }

// Check runs checks in the root of the worktree that a folder is in, or in the folder if it is in none.
func (c checks) Check(ctx context.Context, r record.CheckRun) (work.Validation, error) {
	if w, err := git.Find(r.Dir); err == nil {
		r.Dir = w.Root
	}
	return c.Checks.Check(ctx, r)
}
