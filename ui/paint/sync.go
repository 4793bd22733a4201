package paint

import (
	"time"

	"orchestrator/agent/vterm"
)

// syncLimit is the maximum wait for a program to end its synchronized frame.
const syncLimit = 200 * time.Millisecond

// held reports whether the program is in the middle of a synchronized frame. It is called again at the end of that
// frame, or after a while without one.
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
