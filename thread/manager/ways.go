package manager

import (
	"sync"
	"time"

	exec "orchestrator/thread/work"
)

// ways knows which executions wait for their next attempt, and on which ways to their models others fail. It counts time
// by the monotonic clock too: a clock that is set back makes nothing wait longer than was decided.
type ways struct {
	mu       sync.Mutex // guards the fields; a leaf
	breakers exec.Breakers
	due      map[exec.ID]due
}

// due is when an execution's wait is over.
type due struct {
	after time.Time // as it was decided
	at    time.Time // with the monotonic clock
}

// left is how long an execution waits for its next attempt. now is the wall clock.
func (w *ways) left(x exec.Execution, now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := x.Left(now)
	if left == 0 {
		delete(w.due, x.ID)
		return 0
	}
	d, known := w.due[x.ID]
	if !known || !d.after.Equal(x.After) {
		if w.due == nil {
			w.due = map[exec.ID]due{}
		}
		d = due{after: x.After, at: time.Now().Add(left)}
		w.due[x.ID] = d
	}
	return max(0, min(left, time.Until(d.at)))
}

// forget drops what is kept of an execution that has ended.
func (w *ways) forget(id exec.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.due, id)
}

// open returns the ways that are not open to all.
func (w *ways) open() map[exec.Way]exec.Break {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.breakers.Open(time.Now())
}

// ended takes the end of an attempt. It reports whether its way is closed from now on.
func (w *ways) ended(x exec.Execution, state exec.State, f exec.Failure) (shut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case f.Passes() && (state == exec.Failed || state == exec.Queued):
		return w.breakers.Failed(x.Way(), f.What, time.Now())
	case state == exec.Completed || state == exec.Failed && f.Class == exec.ClassAgent:
		w.breakers.Worked(x.Way(), time.Now())
	}
	return false
}

// answered takes the first answer of an attempt. It reports whether that opens its way again.
func (w *ways) answered(x exec.Execution) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.breakers.Answered(x.Way(), time.Now())
}
