package recording

import (
	"orchestrator/thread"
)

// spool appends to the spool what is pending and not in it yet, in order.
func (r *Recorder) spool() {
	defer r.tellWaiting()
	if r.cfg.Spool == nil {
		return
	}
	for i := range r.pending {
		p := &r.pending[i]
		if p.spooled {
			continue
		}
		at, err := r.cfg.Spool.Append(p.c, p.delta)
		if err != nil {
			r.cfg.Log.Error("spool an answer that the store refused", "thread", string(r.id), "err", err)
			return // what follows must not be kept without it
		}
		p.spooled, p.at, p.delta = true, at, thread.Delta{}
	}
}

// tellWaiting reports how many checkpoints are pending, and how many of them are only in memory.
func (r *Recorder) tellWaiting() {
	unsaved := 0
	for _, p := range r.pending {
		if !p.spooled {
			unsaved++
		}
	}
	r.reports.Waiting(len(r.pending), unsaved)
}

// deltaOf returns what a pending checkpoint adds, from the spool if it is there.
func (r *Recorder) deltaOf(p put) (thread.Delta, error) {
	if !p.spooled {
		return p.graft.fit(p.delta), nil
	}
	_, delta, err := r.cfg.Spool.Read(r.id, p.at)
	return p.graft.fit(delta), err
}

// unspool removes from the spool what the store has accepted. If it comes back after a crash, the store recognises it.
func (r *Recorder) unspool() {
	r.tellWaiting()
	if r.cfg.Spool == nil {
		return
	}
	if r.damaged {
		r.damaged = false
		r.setAside()
		return
	}
	if err := r.cfg.Spool.Drop(r.id); err != nil {
		r.cfg.Log.Warn("remove stored checkpoints from the spool", "thread", string(r.id), "err", err)
	}
}

// setAside moves a thread's spool out of the way and reports where it is.
func (r *Recorder) setAside() {
	path, err := r.cfg.Spool.SetAside(r.id)
	if err != nil {
		r.cfg.Log.Error("set a spool aside", "thread", string(r.id), "err", err)
		return
	}
	if path == "" {
		return
	}
	r.notice(thread.LevelWarn, "%s: its answers that could not be stored are kept in %s",
		r.name(), path)
}
