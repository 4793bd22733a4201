package paint

import (
	"time"

	"orchestrator/agent/vterm"
)

// syncLimit is the longest wait for a program to end its synchronized frame.
const syncLimit = 200 * time.Millisecond

// held tells whether the program is in the middle of a synchronized frame; it is asked again at its end,
// or after a while if that does not come.
func (w *Writer) held(t *vterm.Terminal) bool {
	if !t.Modes().Sync {
		w.syncSince = time.Time{}
		if w.syncTimer != nil {
			w.syncTimer.Stop()
			w.syncTimer = nil
		}
		return false
	}
	now := w.now()
	if w.syncSince.IsZero() {
		w.syncSince = now
	}
	wait := syncLimit - now.Sub(w.syncSince)
	if wait <= 0 {
		return false
	}
	if w.syncTimer == nil {
		w.syncTimer = w.later(wait, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.syncTimer = nil
			w.wake()
		})
	}
	return true
}
