package manager

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"orchestrator/thread"
)

// follow points threads at where their folders are now: a worktree that was moved is where it was found again, and
// what lay in the project's earlier folder lies in the one of today, also where something else took its old place.
func (m *Manager) follow(ctx context.Context) {
	m.mu.Lock()
	lines := m.all()
	m.mu.Unlock()
	for _, l := range lines {
		if t := l.thread(); !t.Archived.IsZero() || !t.Deleted.IsZero() {
			continue // when it is resumed
		}
		if err := l.follow(ctx); err != nil {
			m.notice(l.id, thread.LevelError, "%s: %v", l.thread().DisplayName(), err)
		}
	}
}

// follow does so for one thread.
func (l *line) follow(ctx context.Context) error {
	t := l.thread()
	w, dir := l.m.whereabouts(ctx, t)
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
	l.m.notice(l.id, thread.LevelInfo, "%s: its folder was moved and is %s now", t.DisplayName(), dir)
	return nil
}

func (m *Manager) whereabouts(ctx context.Context, t thread.Thread) (thread.Worktree, string) {
	if t.Worktree.Path != "" {
		if _, err := os.Lstat(t.Worktree.Path); err == nil {
			return t.Worktree, t.Dir
		}
		found, ok, err := m.madeFor(ctx, t.ID)
		if err != nil || !ok || found.Path == t.Worktree.Path {
			return t.Worktree, t.Dir // missing: it is made again when the thread is resumed
		}
		w := t.Worktree
		w.Path = found.Path
		return w, subDir(t.Worktree.Path, t.Dir, w.Path)
	}
	if within(t.Dir, m.cfg.Project) {
		return t.Worktree, t.Dir
	}
	for _, was := range m.cfg.Moved {
		if within(t.Dir, was) {
			return t.Worktree, subDir(was, t.Dir, m.cfg.Project)
		}
	}
	return t.Worktree, t.Dir
}

// within reports whether a folder is another one or lies below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// mendSnapshots makes the snapshots of threads reachable again whose refs are damaged. Refs of threads that the store
// does not know are left alone: they may be another project's of which this one is a copy.
func (m *Manager) mendSnapshots(ctx context.Context) {
	mender, ok := m.cfg.Worktrees.(thread.SnapshotMender)
	if !ok {
		return
	}
	ids, err := mender.Damaged(ctx)
	if err != nil {
		m.cfg.Log.Warn("look for damaged snapshots", "err", err)
	}
	for _, id := range ids {
		l := m.line(id)
		if l == nil {
			continue
		}
		said, err := mend(ctx, m.cfg.Store, mender, id)
		if err != nil {
			m.notice(id, thread.LevelError, "%s: its damaged snapshots: %v", l.thread().DisplayName(), err)
			continue
		}
		m.notice(id, thread.LevelWarn, "%s: %s", l.thread().DisplayName(), said)
	}
}

// checkWait is how long a start waits for the check of what refs keep: few have so many turns that it goes on later.
const checkWait = 200 * time.Millisecond

// checkKept looks whether the refs that keep the threads' snapshots are there, and makes those again that are not: a
// ref that was deleted shows nowhere else, and git drops in time what no ref keeps.
func (m *Manager) checkKept() {
	mender, ok := m.cfg.Worktrees.(thread.SnapshotMender)
	if !ok || !m.begin() {
		return
	}
	checked := make(chan struct{})
	go func() {
		defer m.done()
		defer close(checked)
		if err := m.keepAll(m.ctx, mender); err != nil && m.ctx.Err() == nil {
			m.notice("", thread.LevelError, "it is not known whether all snapshots are kept: %v", err)
		}
	}()
	limit := time.NewTimer(checkWait)
	defer limit.Stop()
	select {
	case <-checked:
	case <-limit.C:
	}
}

func (m *Manager) keepAll(ctx context.Context, mender thread.SnapshotMender) error {
	kept, err := mender.Kept(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	lines := m.all()
	m.mu.Unlock()
	for _, l := range lines {
		commits, err := commitsOf(ctx, m.cfg.Store, l.id)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(commits, func(c string) bool { return !kept[l.id][c] }) {
			continue
		}
		said, err := mender.Mend(ctx, l.id, commits)
		if err != nil {
			m.notice(l.id, thread.LevelError, "%s: its snapshots, which no ref keeps: %v", l.thread().DisplayName(), err)
			continue
		}
		m.notice(l.id, thread.LevelWarn, "%s: refs of its snapshots were missing: %s", l.thread().DisplayName(), said)
	}
	return nil
}

// mend gives one thread's snapshots their refs again, from its checkpoints.
func mend(ctx context.Context, store thread.Store, mender thread.SnapshotMender, id thread.ID) (string, error) {
	commits, err := commitsOf(ctx, store, id)
	if err != nil {
		return "", err
	}
	return mender.Mend(ctx, id, commits)
}

// commitsOf returns those of a thread's own snapshots: the ones that it began from are kept by others, or not any more.
func commitsOf(ctx context.Context, store thread.Store, id thread.ID) (commits []string, err error) {
	for before := int64(0); ; {
		list, err := store.Checkpoints(ctx, id, thread.Page{Limit: 500, Before: before})
		if err != nil || len(list) == 0 {
			return commits, err
		}
		for _, c := range list {
			if c.Snapshot != nil && c.Thread == id {
				commits = append(commits, c.Snapshot.Commit)
			}
			before = c.Seq
		}
	}
}
