package paint

import (
	"slices"
	"time"

	"orchestrator/ui/layout"
)

// turnTime is how long a frame of a spinner lasts.
const turnTime = 250 * time.Millisecond

// Turn tells where marks turn: in cells in which Bubble Tea draws the first frame of a spinner. A cell in which it has drawn
// something else is left alone.
func (w *Writer) Turn(places []layout.Point) {
	n := &w.spinners.next
	n.Lock()
	defer n.Unlock()
	if slices.Equal(n.want, places) {
		return
	}
	n.want, n.set = slices.Clone(places), true
	if n.timer == nil {
		n.timer = w.later(turnTime, w.turn)
	}
}

// turn shows the next frame.
func (w *Writer) turn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.adopt()
	w.spinners.frame++
	if w.closed {
		w.spinners.cells = nil
	}
	w.frame(nil)
	n := &w.spinners.next
	n.Lock()
	defer n.Unlock()
	n.timer = nil
	if len(w.spinners.cells) > 0 || n.set {
		n.timer = w.later(turnTime, w.turn)
	}
}
