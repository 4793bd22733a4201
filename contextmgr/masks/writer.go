package masks

import (
	"log/slog"
	"sync"

	"orchestrator/thread"
)

// writer writes the copies of what was masked, which nobody waits for: creating many files takes longer than syncing
// their contents in one. It takes the contents from the logs.
type writer struct {
	contents *contents
	log      *slog.Logger
	// sweeping is held exclusively while threads are removed, otherwise shared.
	sweeping sync.RWMutex

	mu    sync.Mutex // guards all below
	idle  *sync.Cond
	queue []job
	seals map[sealed]thread.ID // whose seals are to be stored
	busy  bool                 // a goroutine works on the queue
}

// job is a batch that was stored.
type job struct {
	home thread.ID
	from int64 // place of its records in the log
	want map[thread.Token]Mask
}

// sealed is a set whose seal is stored.
type sealed interface{ putSeal() error }

func newWriter(c *contents, log *slog.Logger) *writer {
	w := &writer{contents: c, log: log}
	w.idle = sync.NewCond(&w.mu)
	return w
}

// add has the copies of a batch written soon.
func (w *writer) add(j job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(w.queue, j)
	if !w.busy {
		w.busy = true
		go w.work()
	}
}

// seal has the seal of a thread's set stored soon. The set keeps changing: what is stored is what it is then.
func (w *writer) seal(id thread.ID, s sealed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seals == nil {
		w.seals = map[sealed]thread.ID{}
	}
	w.seals[s] = id
	if !w.busy {
		w.busy = true
		go w.work()
	}
}

// work works on the queue until it is empty.
func (w *writer) work() {
	for j, set, ok := w.take(); ok; j, set, ok = w.take() {
		if set != nil {
			if err := set.putSeal(); err != nil { // it may lag
				w.log.Warn("store the seal of masks", "thread", string(j.home), "err", err)
			}
			continue
		}
		w.sweeping.RLock()
		err := w.contents.writeAll(j.home, j.from, j.want)
		w.sweeping.RUnlock()
		if err != nil { // the contents can be read from the log, and are written when that or a restart happens
			w.log.Warn("write masked contents", "thread", string(j.home), "err", err)
		}
	}
}

// take returns the next batch, or the set whose seal comes next and its thread; without one, the goroutine ends.
func (w *writer) take() (j job, set sealed, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for set, id := range w.seals {
		delete(w.seals, set)
		return job{home: id}, set, true
	}
	if len(w.queue) == 0 {
		w.queue, w.busy = nil, false
		w.idle.Broadcast()
		return j, nil, false
	}
	j, w.queue = w.queue[0], w.queue[1:]
	return j, nil, true
}

// wait returns once the queue is empty.
func (w *writer) wait() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.busy {
		w.idle.Wait()
	}
}
