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
	mu      sync.Mutex
	waiting map[*hookAsk]bool // whether its dialog has been shown
}

type hookAsk struct {
	thread.HookAsk
	says chan []byte // closed where nobody answers it any more
}

// wait waits until a hook's ask is answered, or its dialog is gone, or its agent does.
func (h *hookAsks) wait(ctx context.Context, ask thread.HookAsk) []byte {
	one := &hookAsk{HookAsk: ask, says: make(chan []byte, 1)}
	h.mu.Lock()
	if h.waiting == nil {
		h.waiting = map[*hookAsk]bool{}
	}
	h.waiting[one] = false
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.waiting, one)
		h.mu.Unlock()
	}()
	unseen := time.NewTimer(unseenLimit)
	defer unseen.Stop()
	for {
		select {
		case says := <-one.says:
			return says
		case <-ctx.Done():
			return nil
		case <-unseen.C:
			h.mu.Lock()
			shown := h.waiting[one]
			h.mu.Unlock()
			if !shown {
				return nil // somebody else was quicker, or it is a dialog that nobody knows
			}
		}
	}
}

// unseenLimit is how long a hook waits for its dialog to be shown.
const unseenLimit = 30 * time.Second

// decide answers a question by the hook that asks it. It reports false where none does, or more than one: then nothing
// was answered.
func (h *hookAsks) decide(q thread.Question, means thread.Meaning) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	var one *hookAsk
	for w := range h.waiting {
		if !w.About(q) {
			continue
		}
		if one != nil {
			return false
		}
		one = w
	}
	if one == nil || one.Says[means] == nil {
		return false
	}
	delete(h.waiting, one)
	one.says <- one.Says[means]
	return true
}

// shows lets go of the hooks whose dialog was shown and is not shown now.
func (h *hookAsks) shows(r thread.StateReport) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w, shown := range h.waiting {
		switch is := r.Question != nil && w.About(*r.Question); {
		case is:
			h.waiting[w] = true
		case shown:
			delete(h.waiting, w)
			close(w.says)
		}
	}
}
