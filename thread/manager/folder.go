package manager

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"orchestrator/thread"
)

// place stores a new thread where it is to work: in its folder, or in a worktree of its own where it asks for one or
// others have the folder.
func (m *Manager) place(ctx context.Context, t thread.Thread, r thread.NewRequest) (*line, error) {
	if r.Worktree {
		return m.createWithWorktree(ctx, t, namePart(r), m.cfg.Project, nil)
	}
	others, apart := m.apart(t, r)
	if !apart {
		return m.create(ctx, t, namePart(r))
	}
	files, err := m.cfg.Worktrees.Take(ctx, t.ID, t.Dir, nil)
	if errors.Is(err, thread.ErrNoRepository) || err == nil && files.Base == "" { // a branch begins at a commit
		return m.create(ctx, t, namePart(r))
	}
	if err != nil {
		return nil, fmt.Errorf("keep the files of %s: %w", t.Dir, err)
	}
	l, err := m.createWithWorktree(ctx, t, namePart(r), m.cfg.Project, &files)
	if err != nil {
		return nil, err
	}
	if len(others) > 0 {
		m.notice(l.id, thread.LevelInfo, "%s works in a worktree of its own, %s: %s already works in %s",
			l.thread().DisplayName(), l.thread().Dir, strings.Join(others, ", "), t.Dir)
	}
	return l, nil
}

// apart decides whether a new thread gets a worktree though it did not ask for one, and names those that have its
// folder.
func (m *Manager) apart(t thread.Thread, r thread.NewRequest) (others []string, apart bool) {
	if r.InPlace || m.cfg.Worktrees == nil || m.cfg.NewWorktree == WorktreeNever {
		return nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	others = m.sharing(t)
	return others, m.cfg.NewWorktree == WorktreeAlways || len(others) > 0
}

// sharing names the threads in use that work on the same files as one does. Manager.mu is held.
func (m *Manager) sharing(t thread.Thread) []string {
	return thread.NamesOf(thread.NewFolders(m.cfg.Project, m.threads()).With(t))
}

// besides is sharing for a thread that is in use or not.
func (m *Manager) besides(t thread.Thread) []string {
	t.Archived, t.Deleted, t.Outcome = time.Time{}, time.Time{}, thread.Outcome{}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sharing(t)
}

// threads are all threads, oldest first. Manager.mu is held while they are taken.
func (m *Manager) threads() iter.Seq[thread.Thread] {
	return func(yield func(thread.Thread) bool) {
		for _, id := range m.order {
			if !yield(m.lines[id].t) {
				return
			}
		}
	}
}
