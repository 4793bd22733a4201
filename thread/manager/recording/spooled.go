package recording

import (
	"orchestrator/thread"
)

// spool gives to the spool what is pending and not there yet, in order.
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
			return // what follows it must not be kept without it
		}
		p.spooled, p.at, p.delta = true, at, thread.Delta{}
	}
}

// tellWaiting tells how many checkpoints are pending, and how many of them are in memory alone.
func (r *Recorder) tellWaiting() {
	unsaved := 0
	for _, p := range r.pending {
		if !p.spooled {
			unsaved++
		}
	}
	r.reports.Waiting(len(r.pending), unsaved)
}

// deltaOf returns what a pending checkpoint adds, from the spool where it is there.
func (r *Recorder) deltaOf(p put) (thread.Delta, error) {
	if !p.spooled {
		return p.graft.fit(p.delta), nil
	}
	_, delta, err := r.cfg.Spool.Read(r.id, p.at)
	return p.graft.fit(delta), err
}

// unspool removes what the store has taken from the spool. Should it come back after a crash, the store knows it.
func (r *Recorder) unspool() {
	r.tellWaiting()
	if r.cfg.Spool == nil {
		return
	}
	if r.damaged {
		r.damaged = false
		r.putAside()
		return
	}
	if err := r.cfg.Spool.Drop(r.id); err != nil {
		r.cfg.Log.Warn("remove what is stored from the spool", "thread", string(r.id), "err", err)
	}
}

// putAside moves a thread's spool out of the way and says where it is.
func (r *Recorder) putAside() {
	path, err := r.cfg.Spool.PutAside(r.id)
	if err != nil {
		r.cfg.Log.Error("put a spool aside", "thread", string(r.id), "err", err)
		return
	}
	if path == "" {
		return
	}
	r.notice(thread.LevelWarn, "%s: what could not be stored of its answers is kept in %s", r.name(), path)
}
