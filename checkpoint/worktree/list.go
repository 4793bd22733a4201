package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
)

// Entry is a worktree that Add made.
type Entry struct {
	thread.Worktree
	Thread  thread.ID
	Missing bool   // its folder is gone or moved
	Locked  string // why it is locked, "" if it is not
}

// List returns the worktrees that Add made and that the repositories still know.
func (f *Finder) List(ctx context.Context) ([]Entry, error) {
	var list []Entry
	err := f.Each(ctx, func(repo *repository.Repository) error {
		all, err := registeredIn(repo)
		for _, r := range all {
			m, err := recordOf(repo, filepath.Base(r.gitDir))
			if err != nil {
				continue // not ours, or damaged: Repair reports it
			}
			e := Entry{Worktree: thread.Worktree{Path: r.path, Branch: m.Branch, Base: m.Base}, Thread: m.Thread}
			if why, locked := lockReason(r.gitDir); locked {
				e.Locked = strings.TrimPrefix(why, ": ")
				if e.Locked == "" {
					e.Locked = "no reason given"
				}
			}
			_, err = os.Lstat(filepath.Join(r.path, ".git"))
			e.Missing = err != nil
			list = append(list, e)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	return list, nil
}

// Made returns the worktrees that Add made for threads and whose folders exist.
func (f *Finder) Made(ctx context.Context) (map[thread.ID]thread.Worktree, error) {
	list, err := f.List(ctx)
	if err != nil {
		return nil, err
	}
	made := map[thread.ID]thread.Worktree{}
	for _, e := range list {
		if _, known := made[e.Thread]; !known && !e.Missing {
			made[e.Thread] = e.Worktree
		}
	}
	return made, nil
}
