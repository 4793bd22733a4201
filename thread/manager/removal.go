package manager

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/private"
)

func (l *run) archive(ctx context.Context) error {
	if err := l.stop(ctx, "archived"); err != nil {
		return err
	}
	failpoint.Hit("thread.archive.stopped")
	if err := cancelAll(ctx, l, "its thread was archived"); err != nil {
		return fmt.Errorf("archive %s: cancel what it is to run: %w", l.live.thread().Name, err)
	}
	if !l.live.thread().Archived.IsZero() {
		return nil
	}
	err := l.live.update(ctx, func(t *thread.Thread) error {
		t.Archived, t.Interrupted = l.cfg.now(), false
		return nil
	})
	if err != nil {
		return fmt.Errorf("archive %s: %w", l.live.thread().Name, err)
	}
	return nil
}

// purge is the step that removes a deleted thread permanently. It can be repeated.
func (l *run) purge(ctx context.Context) error {
	t := l.live.thread()
	if t.Deleted.IsZero() {
		return nil // restored in the meantime
	}
	intent, err := l.intents.begin(ctx, intentDelete, l.live.id, struct{}{})
	if err != nil {
		return err
	}
	failpoint.Hit("thread.delete.intended")
	if _, err := l.removeWorktree(ctx); err != nil {
		return errors.Join(err, l.intents.settle(ctx, intent))
	}
	failpoint.Hit("thread.delete.removed")
	if err := cancelAll(ctx, l, "its thread was removed"); err != nil {
		return fmt.Errorf("cancel what it is to run: %w", err)
	}
	if err := l.cfg.Store.PurgeThread(ctx, l.live.id); err != nil {
		return fmt.Errorf("remove the thread: %w", err)
	}
	failpoint.Hit("thread.delete.purged")
	if l.cfg.Runs.Store != nil {
		if _, err := l.cfg.Runs.Store.Purge(ctx, []thread.ID{l.live.id}); err != nil { // they name a thread that is gone
			l.cfg.Log.Warn("remove the executions of a thread", "thread", string(l.live.id), "err", err)
		}
	}
	l.forget()
	l.bus.Forget(l.live.id)
	if l.cfg.MCP != nil {
		l.cfg.MCP.Forget(l.live.id)
	}
	if l.cfg.gateway != nil {
		l.cfg.gateway.Forget(l.live.id)
	}
	if err := removeStateDir(l.cfg.StateDir, l.live.id); err != nil {
		l.cfg.Log.Warn("remove the thread's folder", "thread", string(l.live.id), "err", err)
	}
	return l.intents.settle(ctx, intent)
}

// removeStateDir removes a purged thread's folder, following no links and touching nothing else.
func removeStateDir(state string, id thread.ID) error {
	all, err := private.Open(state, "threads")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer all.Close()
	return all.RemoveAll(string(id))
}

// removeWorktree saves uncommitted changes in a thread's worktree and removes it. One that is already gone, after a
// finish or an earlier try, is not an error. undone says why its teardown failed or did not run.
func (l *run) removeWorktree(ctx context.Context) (undone string, err error) {
	t := l.live.thread()
	if t.Worktree.Path == "" || l.cfg.Worktrees == nil {
		return "", nil
	}
	if others := l.index.besides(t); len(others) > 0 {
		return "", fmt.Errorf("remove worktree %s: %s is using it too: %w",
			t.Worktree.Path, strings.Join(others, ", "), thread.ErrRefused)
	}
	undone = l.tearDown(t)
	saved, err := l.cfg.Worktrees.Remove(ctx, l.live.id, t.Worktree)
	if errors.Is(err, thread.ErrNotFound) {
		return undone, nil
	}
	if err != nil {
		return undone, fmt.Errorf("remove the worktree: %w", err)
	}
	if saved.Commit != "" {
		l.notices.post(l.live.id, thread.LevelInfo, "%s: worktree removed; its files are kept in commit %s",
			t.DisplayName(), saved.Commit)
	}
	return undone, nil
}
