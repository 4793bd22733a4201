package manager

import (
	"context"
	"fmt"

	"orchestrator/thread"
)

// follow does so for one thread.
func (l *run) follow(ctx context.Context) error {
	t := l.thread()
	w, dir := l.location(ctx, t)
	if w == t.Worktree && dir == t.Dir {
		return nil
	}
	err := l.update(ctx, func(t *thread.Thread) error {
		t.Worktree, t.Dir = w, dir
		return nil
	})
	if err != nil {
		return fmt.Errorf("store that its folder was moved to %s: %w", dir, err)
	}
	l.notice(l.id, thread.LevelInfo, "%s: its folder was moved and is %s now", t.DisplayName(), dir)
	return nil
}
