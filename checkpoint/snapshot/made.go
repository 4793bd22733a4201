package snapshot

import (
	"context"

	"orchestrator/thread"
)

// Made returns the worktree that Add made for a thread and whose folder is there; ok is false when
// there is none.
func (s *Store) Made(ctx context.Context, id thread.ID) (made thread.Worktree, ok bool, err error) {
	list, err := s.List(ctx)
	if err != nil {
		return thread.Worktree{}, false, err
	}
	for _, e := range list {
		if e.Thread == id && !e.Missing {
			return e.Worktree, true, nil
		}
	}
	return thread.Worktree{}, false, nil
}
