package record

import (
	"context"

	"orchestrator/thread/work"
)

// Files tells how the files that executions worked on have changed. It changes nothing of them, nor of what a person sees
// of their repository.
type Files interface {
	// Holds reports whether a folder is one of the project's, or of a worktree of its repository. Of others nothing is read.
	Holds(dir string) bool
	// Base returns the commit of HEAD in a folder; "" if there is none, or no repository.
	Base(ctx context.Context, dir string) (string, error)
	// Deliverables returns what a query selects, by path.
	Deliverables(ctx context.Context, q FileQuery) ([]work.Deliverable, error)
}

// MostDeliverables is how many files of an execution are recorded as deliverables at once.
const MostDeliverables = 1000

// FileQuery selects files and what they are compared with.
type FileQuery struct {
	// Dir is the folder in which the execution worked. Its repository counts; that need not be the project's.
	Dir string
	// From and To are commits of the repository or of snapshots. An empty From is nothing at all, an empty To the files as
	// they are now.
	From, To string
	// Unbased is set where it is not known what to compare with: lines are not counted.
	Unbased bool
	// Paths are the files, relative to Dir or absolute, at most MostDeliverables; none for all that differ, as many.
	Paths []string
	// Cut, if set, is told how many more files differ than are returned.
	Cut func(more int)
}
