package manager

import (
	"context"
	"fmt"

	"orchestrator/thread"
)

// Refused counts the checkpoints that the store has refused so far: those that the spool keeps until it takes
// them, and those that are nowhere but in memory.
func (m *Manager) Refused() (spooled, unsaved int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.lines {
		spooled += l.pending - l.unsaved
		unsaved += l.unsaved
	}
	return spooled, unsaved
}

// spool gives to the spool what is pending and not there yet, in order.
func (r *record) spool(l *line) {
	defer func() { l.setUnsaved(len(r.pending)) }()
	if l.m.cfg.Spool == nil {
		return
	}
	for i := range r.pending {
		p := &r.pending[i]
		if p.spooled {
			continue
		}
		at, err := l.m.cfg.Spool.Append(p.c, p.delta)
		if err != nil {
			l.m.cfg.Log.Error("spool an answer that the store refused", "thread", string(l.id), "err", err)
			return // what follows it must not be kept without it
		}
		p.spooled, p.at, p.delta = true, at, thread.Delta{}
	}
}

// setUnsaved notes how many checkpoints are pending, and how many of them are in memory alone.
func (l *line) setUnsaved(pending int) {
	unsaved := 0
	for _, p := range l.rec.pending {
		if !p.spooled {
			unsaved++
		}
	}
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	l.pending, l.unsaved = pending, unsaved
}

// deltaOf returns what a pending checkpoint adds, from the spool where it is there.
func (r *record) deltaOf(l *line, p put) (thread.Delta, error) {
	if !p.spooled {
		return p.graft.fit(p.delta), nil
	}
	_, delta, err := l.m.cfg.Spool.Read(l.id, p.at)
	return p.graft.fit(delta), err
}

// unspool removes what the store has taken from the spool. Should it come back after a crash, the store knows it.
func (r *record) unspool(l *line) {
	l.setUnsaved(0)
	if l.m.cfg.Spool == nil {
		return
	}
	if r.damaged {
		r.damaged = false
		r.putAside(l)
		return
	}
	if err := l.m.cfg.Spool.Drop(l.id); err != nil {
		l.m.cfg.Log.Warn("remove what is stored from the spool", "thread", string(l.id), "err", err)
	}
}

// putAside moves a thread's spool out of the way and says where it is.
func (r *record) putAside(l *line) {
	path, err := l.m.cfg.Spool.PutAside(l.id)
	if err != nil {
		l.m.cfg.Log.Error("put a spool aside", "thread", string(l.id), "err", err)
		return
	}
	if path == "" {
		return
	}
	l.m.notice(l.id, thread.LevelWarn, "%s: what could not be stored of its answers is kept in %s", l.thread().DisplayName(), path)
}

// recoverSpool stores what an earlier server could not.
func (m *Manager) recoverSpool(ctx context.Context) {
	if m.cfg.Spool == nil {
		return
	}
	kept, err := m.cfg.Spool.Kept()
	if err != nil {
		m.notice("", thread.LevelError, "what earlier runs could not store cannot be read: %v", err)
	}
	for id, k := range kept {
		l := m.line(id)
		if l == nil {
			m.putAside(id, k)
			continue
		}
		l.rec.recover(ctx, l, k)
	}
}

// putAside moves the spool of a thread that is not there out of the way, so that it is named once and kept.
func (m *Manager) putAside(id thread.ID, k thread.Spooled) {
	path, err := m.cfg.Spool.PutAside(id)
	switch {
	case err != nil:
		m.notice("", thread.LevelWarn, "%s of thread %s wait to be stored, but there is no such thread: %v", counted(len(k.Places), "answer"), id, err)
	case path != "":
		m.notice("", thread.LevelWarn, "%s of thread %s could not be stored, as there is no such thread any more: they are kept in %s, in JSON; delete that file when you do not need them",
			counted(len(k.Places), "answer"), id, path)
	}
}

// recover takes over what the spool keeps of a thread and tries to store it.
func (r *record) recover(ctx context.Context, l *line, kept thread.Spooled) {
	r.damaged = kept.Unreadable > 0 || kept.Missing > 0
	for _, at := range kept.Places {
		c, d, err := l.m.cfg.Spool.Read(l.id, at)
		if err != nil {
			r.damaged = true
			break // what follows builds on it
		}
		r.pending = append(r.pending, put{c: c, prompts: d.Prompts, spooled: true, at: at})
	}
	if r.damaged {
		l.m.notice(l.id, thread.LevelWarn, "%s: of the answers kept while the store refused them, %d of %d can be read; the server may have been cut off while it wrote the last one",
			l.thread().DisplayName(), len(r.pending), len(kept.Places)+max(kept.Missing, int(min(1, kept.Unreadable))))
	}
	n := len(r.pending)
	if n == 0 {
		r.unspool(l)
		return
	}
	r.flush(ctx, l)
	if len(r.pending) == 0 {
		l.m.notice(l.id, thread.LevelInfo, "%s: %s that could not be stored before are stored now", l.thread().DisplayName(), counted(n, "checkpoint"))
	}
}

// restack puts what an earlier run left in the spool, and the store still refuses, upon the conversation as it is
// stored, so that the next answer continues from there.
func (r *record) restack(l *line, items []thread.Item) {
	if len(r.pending) == 0 {
		return
	}
	for _, p := range r.pending {
		delta, err := r.deltaOf(l, p)
		if err != nil {
			l.m.cfg.Log.Error("read the spool", "thread", string(l.id), "err", fmt.Errorf("restack: %w", err))
			continue // flush gives it up with words
		}
		keep := min(delta.Keep, len(items))
		items = append(items[:keep:keep], delta.Items...)
		r.head, r.turn, r.ended, r.prompt, r.gauge = p.c.ID, p.c.Turn, p.c.Whole(), p.c.Prompt, p.c.Gauge
		r.said = p.c.Prompt
		r.cut = !r.ended
		if p.c.Snapshot != nil {
			r.snapshot = p.c.Snapshot
		}
	}
	r.hashes, r.spoken = r.hash(items), l.m.spoken(items)
}
