package manager

import (
	"context"
	"sync"
	"time"

	"orchestrator/thread"
)

// hookAsks are the hooks of a thread's agent that wait for an answer to what they ask. None outlives its dialog.
type hookAsks struct {
	// mu guards the rest; no lock is taken under it.
	mu       sync.Mutex
	waiting  map[*hookAsk]bool
	question *thread.Question // that is shown; nil for none
	missed   bool             // a hook was turned away whose dialog may still come
}

type hookAsk struct {
	thread.HookAsk
	says  chan []byte // closed where nobody answers it any more
	shown bool        // its dialog has been
	as    string      // the id of the question that this was
}

// mostHooks is how many hooks of a thread wait at once.
const mostHooks = 32

// wait waits until a hook's ask is answered, or its dialog is gone, or its agent does.
func (h *hookAsks) wait(ctx context.Context, ask thread.HookAsk) []byte {
	one := h.add(ask)
	if one == nil {
		return nil
	}
	unseen := time.NewTicker(unseenLimit)
	defer unseen.Stop()
	for {
		select {
		case says := <-one.says:
			return says
		case <-ctx.Done():
			return h.leave(one)
		case <-unseen.C:
			if !h.coming(one) {
				return h.leave(one) // somebody else was quicker, or it is a dialog that nobody knows
			}
		}
	}
}

// unseenLimit is how long a hook waits for its dialog to be shown, if no other one is.
const unseenLimit = 30 * time.Second

// add registers a hook that waits; nil if too many do.
func (h *hookAsks) add(ask thread.HookAsk) *hookAsk {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.waiting) >= mostHooks {
		h.missed = true
		return nil
	}
	if h.waiting == nil {
		h.waiting = map[*hookAsk]bool{}
	}
	one := &hookAsk{HookAsk: ask, says: make(chan []byte, 1)}
	one.sees(h.question)
	h.waiting[one] = true
	return one
}

// leave ends a hook's wait and returns what was decided before that, if anything was.
func (h *hookAsks) leave(one *hookAsk) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.waiting[one] {
		return <-one.says // decide or shows was here first
	}
	delete(h.waiting, one)
	return nil
}

// coming reports whether a hook's dialog has been shown, or waits behind another one.
func (h *hookAsks) coming(one *hookAsk) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return one.shown || h.question != nil
}

// sees notes a question that is shown if it is the hook's.
func (w *hookAsk) sees(q *thread.Question) bool {
	if q == nil || !w.About(*q) {
		return false
	}
	if !w.shown {
		w.shown, w.as = true, q.ID
	}
	return w.as == q.ID || len(w.Says) == 0 // one that decides nothing may belong to any of them
}

// decide answers a question by the hook that asks it. It reports false where none does, or another one waits, too, or was
// turned away: the dialog may be that one's. Then nothing was answered.
func (h *hookAsks) decide(q thread.Question, means thread.Meaning) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.waiting) != 1 || h.missed {
		return false
	}
	for one := range h.waiting {
		if says := one.Says[means]; says != nil && one.sees(&q) {
			delete(h.waiting, one)
			one.says <- says
			return true
		}
	}
	return false
}

// shows lets go of the hooks whose dialog was shown and is not shown now.
func (h *hookAsks) shows(r thread.StateReport) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.question = r.Question
	for w := range h.waiting {
		if !w.sees(r.Question) && w.shown {
			delete(h.waiting, w)
			close(w.says)
		}
	}
	if r.Question == nil && len(h.waiting) == 0 {
		h.missed = false
	}
}
