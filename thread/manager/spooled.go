package manager

import (
	"orchestrator/thread"
)

// spool appends to the spool what is pending and not in it yet, in order.
func (l *recorder) spool() {
	r := &l.rec
	defer func() { l.setUnsaved(len(r.pending)) }()
	if l.cfg.Spool == nil {
		return
	}
	for i := range r.pending {
		p := &r.pending[i]
		if p.spooled {
			continue
		}
		at, err := l.cfg.Spool.Append(p.c, p.delta)
		if err != nil {
			l.cfg.Log.Error("spool an answer that the store refused", "thread", string(l.id), "err", err)
			return // what follows must not be kept without it
		}
		p.spooled, p.at, p.delta = true, at, thread.Delta{}
	}
}

// setUnsaved records how many checkpoints are pending, and how many of them are only in memory.
func (l *recorder) setUnsaved(pending int) {
	unsaved := 0
	for _, p := range l.rec.pending {
		if !p.spooled {
			unsaved++
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending, l.unsaved = pending, unsaved
}

// deltaOf returns what a pending checkpoint adds, from the spool if it is there.
func (l *recorder) deltaOf(p put) (thread.Delta, error) {
	if !p.spooled {
		return p.graft.fit(p.delta), nil
	}
	_, delta, err := l.cfg.Spool.Read(l.id, p.at)
	return p.graft.fit(delta), err
}

// unspool removes from the spool what the store has accepted. If it comes back after a crash, the store recognises it.
func (l *recorder) unspool() {
	r := &l.rec
	l.setUnsaved(0)
	if l.cfg.Spool == nil {
		return
	}
	if r.damaged {
		r.damaged = false
		l.setAside()
		return
	}
	if err := l.cfg.Spool.Drop(l.id); err != nil {
		l.cfg.Log.Warn("remove stored checkpoints from the spool", "thread", string(l.id), "err", err)
	}
}

// setAside moves a thread's spool out of the way and reports where it is.
func (l *recorder) setAside() {
	path, err := l.cfg.Spool.SetAside(l.id)
	if err != nil {
		l.cfg.Log.Error("set a spool aside", "thread", string(l.id), "err", err)
		return
	}
	if path == "" {
		return
	}
	l.notice(l.id, thread.LevelWarn, "%s: its answers that could not be stored are kept in %s",
		l.thread().DisplayName(), path)
}
