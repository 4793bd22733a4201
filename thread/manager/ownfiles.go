package manager

import (
	"context"
	"fmt"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/share"
)

// ownFiles tells, of a folder that several threads work in, which of the files that changed since a checkpoint only
// this thread can have written, and which others may have. shared is false where nobody else does: then all are its
// own. now is the snapshot of the files as they are.
func (l *line) ownFiles(ctx context.Context, to thread.Checkpoint, target, now thread.Snapshot) (own, others []string, shared bool, err error) {
	m, t := l.m, l.thread()
	history := make(map[thread.ID][]thread.Checkpoint)
	for _, o := range m.together(t) {
		list, err := m.since(ctx, o.ID, to)
		if err != nil {
			return nil, nil, false, err
		}
		shared = shared || len(list) > 0 || o.InUse()
		history[o.ID] = list
	}
	if !shared {
		return nil, nil, false, nil
	}
	if m.cfg.Differ == nil {
		return nil, nil, true, fmt.Errorf("compare the files: %w", thread.ErrUnsupported)
	}
	if history[l.id], err = m.since(ctx, l.id, to); err != nil {
		return nil, nil, true, err
	}
	var steps []share.Step
	from, since := target, to.Created
	for _, c := range kept(history) {
		step := share.Step{Alone: m.alone(c.Thread, history, since, c.Created)}
		if c.Kind != thread.KindSafety { // that holds what anybody wrote before it
			step.Thread = string(c.Thread)
		}
		if step.Paths, err = m.changed(ctx, t.Dir, from, *c.Snapshot); err != nil {
			return nil, nil, true, err
		}
		steps = append(steps, step)
		from, since = *c.Snapshot, c.Created
	}
	last := share.Step{}
	if last.Paths, err = m.changed(ctx, t.Dir, from, now); err != nil {
		return nil, nil, true, err
	}
	own, others = share.Own(string(l.id), append(steps, last))
	return own, others, true, nil
}

// together returns the other threads whose files are a thread's too, those included that are not in use any more:
// what they wrote is still there.
func (m *Manager) together(t thread.Thread) []thread.Thread {
	m.mu.Lock()
	defer m.mu.Unlock()
	var others []thread.Thread
	at := share.Place{Dir: t.Dir, Worktree: t.Worktree.Path}
	for o := range m.threads() {
		if o.ID != t.ID && share.Together(m.cfg.Project, at, share.Place{Dir: o.Dir, Worktree: o.Worktree.Path}) {
			others = append(others, o)
		}
	}
	return others
}

// since returns a thread's own checkpoints that came after another, newest first.
func (m *Manager) since(ctx context.Context, id thread.ID, to thread.Checkpoint) ([]thread.Checkpoint, error) {
	var all []thread.Checkpoint
	page := thread.Page{Limit: 200}
	for {
		list, err := m.cfg.Store.Checkpoints(ctx, id, page)
		if err != nil {
			return nil, fmt.Errorf("read the checkpoints: %w", err)
		}
		for _, c := range list {
			if !c.Created.After(to.Created) { // Seq counts one conversation's alone
				return all, nil
			}
			all = append(all, c)
		}
		if len(list) < page.Limit {
			return all, nil
		}
		page.Before = list[len(list)-1].Seq
	}
}

// kept returns the checkpoints that hold files, oldest first.
func kept(history map[thread.ID][]thread.Checkpoint) []thread.Checkpoint {
	var all []thread.Checkpoint
	for _, list := range history {
		for _, c := range list {
			if c.Snapshot != nil && c.Kind != thread.KindResponse {
				all = append(all, c)
			}
		}
	}
	slices.SortFunc(all, func(a, b thread.Checkpoint) int { return a.Created.Compare(b.Created) })
	return all
}

// alone reports whether no thread but one was in the middle of a turn between two times. What a turn writes it writes
// after its first response.
func (m *Manager) alone(id thread.ID, history map[thread.ID][]thread.Checkpoint, from, until time.Time) bool {
	for other, list := range history {
		if other == id {
			continue
		}
		ended := map[int]time.Time{}
		for _, c := range list {
			if c.Kind == thread.KindTurn {
				ended[c.Turn] = c.Created
			}
		}
		for _, c := range list {
			if c.Kind != thread.KindResponse || !c.Created.Before(until) {
				continue
			}
			if end, over := ended[c.Turn]; !over || end.After(from) {
				return false
			}
		}
	}
	return true
}

// changed returns the paths that differ between two snapshots, both names of a renamed file.
func (m *Manager) changed(ctx context.Context, dir string, from, to thread.Snapshot) ([]string, error) {
	if from.Commit == to.Commit {
		return nil, nil
	}
	files, err := m.cfg.Differ.Diff(ctx, dir, from.Commit, to.Commit)
	if err != nil {
		return nil, fmt.Errorf("compare the files: %w", err)
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
		if f.OldPath != "" {
			paths = append(paths, f.OldPath)
		}
	}
	return paths, nil
}
