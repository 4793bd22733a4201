package server

import (
	"context"
	"log/slog"
	"os"

	"orchestrator/thread"
)

// unmergedWork tells which threads have work that is merged nowhere, so that retention keeps them: those with a worktree, and
// those whose worktree was removed and whose branch has commits that the project does not have. A branch that is not
// there any more was dropped, by who asked for that or by the person.
type unmergedWork struct {
	// branches lists the branches that are not merged; nil without a repository.
	branches func(context.Context) (map[string]bool, error)
	log      *slog.Logger
}

// look returns what tells it, as it is now. Git is asked once, and only about threads whose worktree is gone. What it does not
// tell counts as not merged.
func (u unmergedWork) look(ctx context.Context) func(thread.Thread) bool {
	var asked bool
	var branches map[string]bool
	var err error
	return func(t thread.Thread) bool {
		switch w := t.Worktree; {
		case w.Path == "" || t.Outcome.Kind != thread.OutcomeNone:
			return false
		case isFolder(w.Path):
			return true
		case w.Branch == "" || u.branches == nil:
			return false
		}
		if !asked {
			asked = true
			if branches, err = u.branches(ctx); err != nil {
				u.log.Warn("find out what is not merged", "error", err)
			}
		}
		return err != nil || branches[t.Worktree.Branch]
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
