package paint

import "time"

// frameGap is the minimum time between two frames of the pane.
const frameGap = 8 * time.Millisecond

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

// SetPane shows a pane, or the same one with another box, scroll position or selection. It does not wait for the
// terminal: the pane is painted soon after, and before anything that Bubble Tea writes from now on.
func (w *Writer) SetPane(p Pane) {
	if p.Source == nil || p.Box.W <= 0 || p.Box.H <= 0 {
		w.Suspend()
		return
	}
	w.want(&p)
}

// Suspend stops drawing the pane, because it will be covered or is gone, and leaves its place blank, as Bubble Tea
// assumes it to be.
func (w *Writer) Suspend() { w.want(nil) }

func (w *Writer) want(p *Pane) {
	w.next.Lock()
	defer w.next.Unlock()
	if w.next.last.equal(p) {
		return
	}
	w.next.pane, w.next.last, w.next.set = p, p, true
	if !w.next.queued {
		w.next.queued = true
		time.AfterFunc(0, w.adoptNow)
	}
}

func (w *Writer) adoptNow() {
	w.next.Lock()
	w.next.queued = false
	w.next.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.adopt() {
		return
	}
	if w.pane != nil {
		w.frame(nil)
	} else if out := w.back(w.clear(nil)); len(out) > 0 && w.err == nil {
		w.err = w.put(out)
	}
}

// adopt switches to the requested pane, and reports whether there was one.
func (w *Writer) adopt() bool {
	w.next.Lock()
	p, set := w.next.pane, w.next.set
	w.next.set = false
	w.next.Unlock()
	if !set {
		return false
	}
	if w.closed {
		p = nil
	}
	switch {
	case p == nil:
		w.stopTimer()
	case w.pane == nil:
		w.fresh = true
	default:
		w.fresh = w.fresh || w.pane.Source != p.Source
		w.moved = w.moved || w.pane.Box != p.Box
	}
	w.pane = p
	return true
}
