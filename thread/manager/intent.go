package manager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"orchestrator/thread"
)

// The kinds of intents that the Manager writes.
const (
	intentFork   = "fork"
	intentRewind = "rewind"
	intentMerge  = "merge"
	intentFinish = "finish"
	intentDelete = "delete"
)

// intend writes down that an operation of several steps begins.
func (m *Manager) intend(ctx context.Context, kind string, id thread.ID, data any) (thread.Intent, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return thread.Intent{}, fmt.Errorf("write down the intent: %w", err)
	}
	i := thread.Intent{ID: thread.NewID[string](), Kind: kind, Thread: id, Data: raw, Created: m.now()}
	if err := m.cfg.Store.PutIntent(ctx, i); err != nil {
		return thread.Intent{}, fmt.Errorf("write down the intent: %w", err)
	}
	return i, nil
}

// settled drops an intent: the operation is whole, or wholly taken back.
func (m *Manager) settled(ctx context.Context, i thread.Intent) error {
	if err := m.cfg.Store.DropIntent(ctx, i.ID); err != nil {
		return fmt.Errorf("drop the intent: %w", err)
	}
	return nil
}

// repairIntents finishes or takes back what a crash cut, and says so. What cannot be repaired stays
// written down for the next start and never keeps the server from starting.
func (m *Manager) repairIntents(ctx context.Context) error {
	if m.cfg.Worktrees != nil {
		said, err := m.cfg.Worktrees.Repair(ctx)
		for _, s := range said {
			m.notice("", thread.LevelWarn, "repaired after a crash: %s", s)
		}
		if err != nil {
			m.notice("", thread.LevelError, "repair of the worktrees: %v", err)
		}
		m.mendSnapshots(ctx)
	}
	m.follow(ctx)
	intents, err := m.cfg.Store.Intents(ctx)
	if err != nil {
		return fmt.Errorf("read what was under way: %w", err)
	}
	for _, i := range intents {
		keep, err := m.repair(ctx, i)
		if err != nil {
			m.notice(i.Thread, thread.LevelError, "repair of a %s that was cut off: %v; it is tried again at the next start", i.Kind, err)
		}
		if err != nil || keep {
			continue
		}
		if err := m.settled(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// repair finishes or takes back one operation; keep is set for one that waits for a person.
func (m *Manager) repair(ctx context.Context, i thread.Intent) (keep bool, err error) {
	switch i.Kind {
	case intentFork:
		return false, m.repairFork(ctx, i)
	case intentRewind:
		return false, m.repairRewind(ctx, i)
	case intentMerge:
		return m.repairMerge(ctx, i)
	case intentFinish:
		m.notice(i.Thread, thread.LevelWarn, "finishing a thread was cut off; nothing is lost, finish it again")
		return false, nil
	case intentDelete:
		return false, nil // the thread is still deleted, and can be discarded again
	default:
		return true, nil // another package's
	}
}

// repairFork takes a fork back whose worktree is not there, and keeps one that is.
func (m *Manager) repairFork(ctx context.Context, i thread.Intent) error {
	t, err := m.cfg.Store.Thread(ctx, i.Thread)
	switch {
	case errors.Is(err, thread.ErrNotFound):
		m.notice("", thread.LevelInfo, "a fork was cut off before it began; nothing is left of it")
		return m.forgetFiles(ctx, i.Thread)
	case err != nil:
		return err
	case t.Worktree.Path != "":
		return nil // only the intent was left
	}
	if w, ok, err := m.madeFor(ctx, t.ID); err != nil || ok {
		if err != nil {
			return err
		}
		return m.finishFork(ctx, t, w)
	}
	m.notice("", thread.LevelWarn, "the fork %s was cut off while its worktree was made and is taken back; its parent has everything, fork again", t.DisplayName())
	return m.takeBackFork(ctx, i.Thread)
}

// madeFor looks for a worktree that was made for a thread.
func (m *Manager) madeFor(ctx context.Context, id thread.ID) (thread.Worktree, bool, error) {
	f, ok := m.cfg.Worktrees.(thread.WorktreeFinder)
	if !ok {
		return thread.Worktree{}, false, nil
	}
	w, ok, err := f.Made(ctx, id)
	if errors.Is(err, thread.ErrNoRepository) {
		return thread.Worktree{}, false, nil
	}
	return w, ok, err
}

// finishFork stores the worktree of a fork that was cut off after it was made.
func (m *Manager) finishFork(ctx context.Context, t thread.Thread, w thread.Worktree) error {
	l := m.line(t.ID)
	if l == nil {
		return nil
	}
	from := m.cfg.Project
	if p := m.line(t.Parent); p != nil {
		from = m.rootOf(p.thread())
	}
	err := l.update(ctx, func(t *thread.Thread) error {
		t.Worktree, t.Dir = w, subDir(from, t.Dir, w.Path)
		if m.cfg.Furnisher != nil {
			t.Setup = thread.Setup{State: thread.SetupRuns} // it had not begun
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store the worktree: %w", err)
	}
	m.notice(t.ID, thread.LevelInfo, "the fork %s was cut off by a crash and is finished now; start it", t.DisplayName())
	return nil
}

// takeBackFork removes a thread that never had anything of its own.
func (m *Manager) takeBackFork(ctx context.Context, id thread.ID) error {
	m.mu.Lock()
	if l := m.lines[id]; l != nil {
		m.drop(l)
		m.bus.Publish(thread.Event{At: m.now(), Kind: thread.EventRemoved, ThreadID: id})
	}
	m.mu.Unlock()
	if err := m.cfg.Store.PurgeThread(ctx, id); err != nil && !errors.Is(err, thread.ErrNotFound) {
		return fmt.Errorf("take the thread back: %w", err)
	}
	return m.forgetFiles(ctx, id)
}

// forgetFiles drops the snapshots of a thread that is no more.
func (m *Manager) forgetFiles(ctx context.Context, id thread.ID) error {
	if m.cfg.Worktrees == nil {
		return nil
	}
	if err := m.cfg.Worktrees.Drop(ctx, id); err != nil && !errors.Is(err, thread.ErrNoRepository) {
		return fmt.Errorf("drop the snapshots: %w", err)
	}
	return nil
}
