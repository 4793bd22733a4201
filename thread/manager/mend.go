package manager

import (
	"cmp"
	"context"
	"slices"

	"orchestrator/thread"
)

// mend rebuilds the newest turns of a thread if they cannot be read. It is a step of the thread's queue and does nothing
// while its agent runs: then the next answer brings the conversation again.
func (l *run) mend(ctx context.Context) {
	if l.cfg.Mend == nil || l.live.running() != nil {
		return
	}
	said, err := l.cfg.Mend(ctx, l.live.id)
	if err != nil {
		l.notices.post(l.live.id, thread.LevelError, "%s: its newest turns cannot be read, and rebuilding them failed: %v",
			l.live.thread().DisplayName(), err)
	}
	if said == "" {
		return
	}
	l.recorder.Forget()
	if err := l.live.reread(ctx); err != nil {
		l.cfg.Log.Error("read a thread that was mended", "thread", string(l.live.id), "err", err)
	}
	l.notices.post(l.live.id, thread.LevelWarn, "its newest turns could not be read, because the stored data is damaged: %s", said)
}

// Unreadable returns the turns that are known to be unreadable, of the threads that still stand on them.
func (m *History) Unreadable(ctx context.Context) ([]thread.Unreadable, error) {
	known, ok := m.cfg.Store.(thread.Unreadables)
	if !ok {
		return nil, nil
	}
	broken := map[thread.ID][]thread.Checkpoint{}
	for _, c := range known.Unreadable() {
		broken[c.Thread] = append(broken[c.Thread], c)
	}
	out := []thread.Unreadable{}
	if len(broken) == 0 {
		return out, nil
	}
	for id := range broken {
		t, ok, err := m.registry.look(id)
		if err != nil {
			return nil, err
		}
		if !ok || !t.Deleted.IsZero() {
			continue
		}
		stands, err := m.cfg.Store.Lineage(ctx, t.Head, thread.Page{Limit: 1 << 20})
		if err != nil {
			return nil, err
		}
		u := thread.Unreadable{Thread: t.ID, Name: t.Name}
		for _, c := range stands {
			if c.Damaged && c.Thread == t.ID {
				u.Turns = append(u.Turns, c.Turn)
			}
		}
		if slices.Sort(u.Turns); len(u.Turns) > 0 {
			u.Turns = slices.Compact(u.Turns)
			out = append(out, u)
		}
	}
	slices.SortFunc(out, func(a, b thread.Unreadable) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}
