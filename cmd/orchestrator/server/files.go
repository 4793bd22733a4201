package server

import (
	"orchestrator/checkpoint/snapshot"
	"orchestrator/checkpoint/worktree"
	"orchestrator/thread"
)

// keptFiles are the files of threads: their snapshots and their worktrees, as one.
type keptFiles struct {
	*snapshot.Store
	*worktree.Keeper
	*worktree.Finder
}

var (
	_ thread.Worktrees      = (*keptFiles)(nil)
	_ thread.Differ         = (*keptFiles)(nil)
	_ thread.ChangeLister   = (*keptFiles)(nil)
	_ thread.WorktreeFinder = (*keptFiles)(nil)
	_ thread.RefRepairer    = (*keptFiles)(nil)
	_ thread.RepairReporter = (*keptFiles)(nil)
)

func openFiles(where worktree.Config, cfg snapshot.Config) (*keptFiles, error) {
	found, err := worktree.NewFinder(where)
	if err != nil {
		return nil, err
	}
	store := snapshot.New(found, cfg)
	return &keptFiles{Store: store, Keeper: worktree.NewKeeper(found, store), Finder: found}, nil
}
