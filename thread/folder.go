package thread

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"orchestrator/thread/share"
)

// place stores a new thread where it is to work: in its folder, or in a worktree of its own where it asks for one or
// others have the folder.
func (m *Manager) place(ctx context.Context, t Thread, r NewRequest) (*line, error) {
	if r.Worktree {
		return m.createWithWorktree(ctx, t, namePart(r), m.cfg.Project, nil)
	}
	others, apart := m.apart(t, r)
	if !apart {
		return m.create(ctx, t, namePart(r))
	}
	files, err := m.cfg.Worktrees.Take(ctx, t.ID, t.Dir, nil)
	if errors.Is(err, ErrNoRepository) || err == nil && files.Base == "" { // a branch begins at a commit
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
		m.notice(l.id, LevelInfo, "%s works in a worktree of its own, %s: %s already works in %s",
			l.thread().Name, l.thread().Dir, strings.Join(others, ", "), t.Dir)
	}
	return l, nil
}

// apart decides whether a new thread gets a worktree though it did not ask for one, and names those that have its
// folder.
func (m *Manager) apart(t Thread, r NewRequest) (others []string, apart bool) {
	if r.InPlace || m.cfg.Worktrees == nil || m.cfg.NewWorktree == WorktreeNever {
		return nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	others = m.sharing(t)
	return others, m.cfg.NewWorktree == WorktreeAlways || len(others) > 0
}

// sharing names the threads that Sharing returns. Manager.mu is held.
func (m *Manager) sharing(t Thread) []string {
	var names []string
	for _, o := range Sharing(m.cfg.Project, t, m.threads()) {
		names = append(names, o.Name)
	}
	return names
}

// threads are all threads, oldest first. Manager.mu is held while they are taken.
func (m *Manager) threads() iter.Seq[Thread] {
	return func(yield func(Thread) bool) {
		for _, id := range m.order {
			if !yield(m.lines[id].t) {
				return
			}
		}
	}
}

// Sharing returns the threads in use that work on the same files of a project as one does.
func Sharing(project string, t Thread, all iter.Seq[Thread]) []Thread {
	if !inUse(t) {
		return nil
	}
	var others []Thread
	at := share.Place{Dir: t.Dir, Worktree: t.Worktree.Path}
	for o := range all {
		if o.ID != t.ID && inUse(o) && share.Together(project, at, share.Place{Dir: o.Dir, Worktree: o.Worktree.Path}) {
			others = append(others, o)
		}
	}
	return others
}

// inUse reports whether a thread still works on its files.
func inUse(t Thread) bool {
	return t.Deleted.IsZero() && t.Archived.IsZero() && t.Outcome.Kind == OutcomeNone
}
