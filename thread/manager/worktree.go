package manager

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orchestrator/thread"
)

// snapshot keeps a thread's files; prev is the one before. Where nothing can be kept it returns nil
// and says so, once.
func (l *line) snapshot(ctx context.Context, prev *thread.Snapshot) *thread.Snapshot {
	if l.m.cfg.Worktrees == nil {
		return nil
	}
	t := l.thread()
	s, err := l.m.cfg.Worktrees.Take(ctx, l.id, t.Dir, prev)
	switch {
	case errors.Is(err, thread.ErrNoRepository):
		return nil
	case err != nil:
		l.m.notice(l.id, thread.LevelWarn, "%s: the files of turn %d were not kept: %v", t.DisplayName(), t.Turn, err)
		return nil
	}
	l.nameSkipped(s, prev)
	return &s
}

// nameSkipped says which files a snapshot could not keep, once for each.
func (l *line) nameSkipped(s thread.Snapshot, prev *thread.Snapshot) {
	known := map[thread.Skip]bool{}
	if prev != nil {
		for _, k := range prev.Skipped {
			known[k] = true
		}
	}
	var names []string
	for _, k := range s.Skipped {
		if !known[k] {
			names = append(names, fmt.Sprintf("%s (%s)", k.Path, k.Reason))
		}
	}
	if len(names) == 0 {
		return
	}
	const most = 5
	shown := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	l.m.notice(l.id, thread.LevelWarn, "%s: not kept in snapshots, and left as they are when files are restored: %s", l.thread().DisplayName(), shown)
}

// snapshotAt returns the newest snapshot at a checkpoint or before it, nil when there is none.
func (m *Manager) snapshotAt(ctx context.Context, at thread.CheckpointID) (*thread.Snapshot, error) {
	if at == "" {
		return nil, nil
	}
	c, err := m.cfg.Store.Checkpoint(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("read the checkpoint: %w", err)
	}
	if c.Snapshot != nil {
		return c.Snapshot, nil
	}
	list, err := m.cfg.Store.Lineage(ctx, at, thread.Page{Turns: true, Limit: 100})
	if err != nil {
		return nil, fmt.Errorf("read the checkpoints: %w", err)
	}
	for _, c := range list {
		if c.Snapshot != nil {
			return c.Snapshot, nil
		}
	}
	return nil, nil
}

// mcps names the MCP servers that are on for a thread.
func (m *Manager) mcps(id thread.ID) []string {
	if m.cfg.EnabledMCPs == nil {
		return nil
	}
	return m.cfg.EnabledMCPs(id)
}
