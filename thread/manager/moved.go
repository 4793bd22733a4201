package manager

import (
	"context"
	"fmt"

	"orchestrator/thread"
)

// follow updates one thread.
func (l *run) follow(ctx context.Context, made madeWorktrees) error {
	t := l.live.thread()
	w, dir := l.cfg.location(t, made)
	if w == t.Worktree && dir == t.Dir {
		return nil
	}
	err := l.live.update(ctx, func(t *thread.Thread) error {
		t.Worktree, t.Dir = w, dir
		return nil
	})
	if err != nil {
		return fmt.Errorf("store the new folder %s: %w", dir, err)
	}
	l.notices.post(l.live.id, thread.LevelInfo, "%s: its folder was moved to %s", t.DisplayName(), dir)
	return nil
}
