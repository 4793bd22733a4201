package manager

import (
	"context"
	"fmt"
	"sync"

	"orchestrator/thread"
)

// repairIntents completes or rolls back what a crash interrupted, and reports it. What cannot be repaired stays stored
// for the next start and never prevents the server from starting.
func (m *recovery) repairIntents(ctx context.Context) error {
	if m.cfg.Worktrees != nil {
		said, err := m.cfg.Worktrees.Repair(ctx)
		for _, s := range said {
			m.notices.post("", thread.LevelWarn, "repaired after a crash: %s", s)
		}
		if err != nil {
			m.notices.post("", thread.LevelError, "repair the worktrees: %v", err)
		}
		m.repairSnapshotRefs(ctx)
	}
	m.follow(ctx)
	intents, err := m.cfg.Store.Intents(ctx)
	if err != nil {
		return fmt.Errorf("read interrupted operations: %w", err)
	}
	for _, i := range intents {
		keep, err := m.repair(ctx, i)
		if err != nil {
			m.notices.post(i.Thread, thread.LevelError,
				"repair an interrupted %s: %v; will be retried at the next start", i.Kind, err)
		}
		if err != nil || keep {
			continue
		}
		if err := m.intents.settle(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// repair completes or rolls back one operation; keep is set for one that waits for a person.
func (m *recovery) repair(ctx context.Context, i thread.Intent) (keep bool, err error) {
	switch i.Kind {
	case intentFork:
		return false, m.forks.repairFork(ctx, i)
	case intentRewind:
		return false, m.rewinds.repairRewind(ctx, i)
	case intentMerge:
		return m.merges.repairMerge(ctx, i)
	case intentFinish:
		m.notices.post(i.Thread, thread.LevelWarn, "finishing a thread was interrupted; nothing is lost, finish it again")
		return false, nil
	case intentDispose:
		return true, nil // once the executions are known
	case intentDelete:
		return false, nil // the thread is still deleted, and can be discarded again
	default:
		return true, nil // another package's
	}
}

// follow updates the folders of threads that were moved: a worktree is looked up where it is now, and a folder in the
// project's earlier folder becomes the one in today's, even if something else is in its old place.
func (m *recovery) follow(ctx context.Context) {
	lines := m.registry.all()
	made := sync.OnceValues(func() (map[thread.ID]thread.Worktree, error) { return m.cfg.worktreesMade(ctx) })
	for _, l := range lines {
		if t := l.live.thread(); !t.Archived.IsZero() || !t.Deleted.IsZero() {
			continue // when it is resumed
		}
		if err := l.follow(ctx, made); err != nil {
			m.notices.post(l.live.id, thread.LevelError, "%s: %v", l.live.thread().DisplayName(), err)
		}
	}
}

// repairSnapshotRefs makes snapshots with damaged refs reachable again. Refs of unknown threads are left alone: they
// may belong to another project that this one is a copy of. So without threads there is nothing to look for.
func (m *recovery) repairSnapshotRefs(ctx context.Context) {
	repairer, ok := m.cfg.Worktrees.(thread.RefRepairer)
	if !ok {
		return
	}
	if some, _, err := m.cfg.Store.SelectThreads(ctx, thread.Query{Limit: 1}); err == nil && len(some) == 0 {
		return
	}
	ids, err := repairer.Damaged(ctx)
	if err != nil {
		m.cfg.Log.Warn("find damaged snapshots", "err", err)
	}
	for _, id := range ids {
		l := m.registry.run(id)
		if l == nil {
			continue
		}
		said, err := repairRefs(ctx, m.cfg.Store, repairer, id)
		if err != nil {
			m.notices.post(id, thread.LevelError, "%s: repair its damaged snapshots: %v", l.live.thread().DisplayName(), err)
			continue
		}
		m.notices.post(id, thread.LevelWarn, "%s: %s", l.live.thread().DisplayName(), said)
	}
}
