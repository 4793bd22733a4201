package work

import (
	"context"
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// Witness gives executions that must only read a place to work in, which those of the same files share, and tells what
// was changed in it.
type Witness interface {
	// Join gives an execution a place with the files of a folder as they are now. An error that is thread.ErrNoRepository
	// means that the folder is in no repository: there is nothing to make a place of.
	Join(ctx context.Context, x Execution, dir string) (Place, error)
	// Leave tells what was changed while an execution was in its place, whose processes have all ended. The place goes with
	// the last. With an error, what was changed may not be all.
	Leave(ctx context.Context, id ID) (Traces, error)
}

// Place is where an execution works that must only read.
type Place struct {
	Dir      string // in place of the folder that was asked for
	Root     string // of the worktree that it is in
	Snapshot thread.Snapshot
}

// Traces are what was changed in a place while an execution was in it.
type Traces struct {
	// Changed are the paths in the worktree, sorted; More is how many there are besides.
	Changed []string
	More    int
	// Saved has what was changed, if the execution was the last in its place.
	Saved thread.Snapshot
}

// shown is how many paths a reason names.
const shown = 5

// Reason says for people that files were changed, "" if none were.
func (t Traces) Reason() string {
	if len(t.Changed) == 0 {
		return ""
	}
	named := t.Changed[:min(shown, len(t.Changed))]
	paths := make([]string, len(named))
	for i, path := range named {
		paths[i] = plaintext.Cut(path, 80)
	}
	more := ""
	if n := len(t.Changed) - len(named) + t.More; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("files were changed where it may only read: %s%s", strings.Join(paths, ", "), more)
}
