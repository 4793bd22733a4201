package paint

import (
	"time"

	"orchestrator/agent/vterm"
)

const (
	frameGap  = 8 * time.Millisecond   // shortest time between two frames of the pane
	syncLimit = 200 * time.Millisecond // longest wait for a program to end its synchronized frame
)

// Changed paints what has changed in the pane: now, or at the end of the frame gap.
func (w *Writer) Changed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed()
}

func (w *Writer) changed() {
	w.adopt()
	if w.pane == nil || w.timer != nil {
		return
	}
	if wait := frameGap - w.now().Sub(w.last); wait > 0 {
		w.after(wait)
		return
	}
	w.frame(nil)
}

func (w *Writer) after(d time.Duration) {
	w.timer = w.later(d, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.timer = nil
		w.adopt()
		if w.pane != nil {
			w.frame(nil)
		}
	})
}

func (w *Writer) stopTimer() {
	if w.syncTimer != nil {
		w.syncTimer.Stop()
		w.syncTimer = nil
	}
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

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
			w.changed()
		})
	}
	return true
}
