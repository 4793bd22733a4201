package thread

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

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
			l.thread().DisplayName(), l.thread().Dir, strings.Join(others, ", "), t.Dir)
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

// sharing names the threads in use that work on the same files as one does. Manager.mu is held.
func (m *Manager) sharing(t Thread) []string {
	return NamesOf(NewFolders(m.cfg.Project, m.threads()).With(t))
}

// besides is sharing for a thread that is in use or not.
func (m *Manager) besides(t Thread) []string {
	t.Archived, t.Deleted, t.Outcome = time.Time{}, time.Time{}, Outcome{}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sharing(t)
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

// Folders tells which of a project's threads work on the same files.
type Folders struct {
	threads []Thread // those in use
	index   *share.Index
}

// NewFolders looks at threads, those in use of them.
func NewFolders(project string, all iter.Seq[Thread]) *Folders {
	f := &Folders{}
	var places []share.Place
	for t := range all {
		if t.InUse() {
			f.threads = append(f.threads, t)
			places = append(places, placeOf(t))
		}
	}
	f.index = share.NewIndex(project, places)
	return f
}

// With returns those that work on the same files as one does, in the order they came in; none for one that is not in
// use.
func (f *Folders) With(t Thread) []Thread {
	if !t.InUse() {
		return nil
	}
	var others []Thread
	for _, i := range f.index.With(placeOf(t)) {
		if o := f.threads[i]; o.ID != t.ID {
			others = append(others, o)
		}
	}
	return others
}

func placeOf(t Thread) share.Place { return share.Place{Dir: t.Dir, Worktree: t.Worktree.Path} }

// NamesOf returns the names of threads.
func NamesOf(threads []Thread) []string {
	var names []string
	for _, t := range threads {
		names = append(names, t.Name)
	}
	return names
}

// InUse reports whether a thread still works on its files.
func (t Thread) InUse() bool {
	return t.Deleted.IsZero() && t.Archived.IsZero() && t.Outcome.Kind == OutcomeNone
}
