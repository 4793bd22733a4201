package paint

import "time"

const (
	// frameGap is the minimum time between two frames of a pane, and watchedGap that of one that is only watched.
	frameGap   = 8 * time.Millisecond
	watchedGap = 33 * time.Millisecond
)

// Spot adds a place for a pane.
func (w *Writer) Spot() *Spot {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &Spot{w: w}
	s.wake = s.changed
	w.spots = append(w.spots, s)
	return s
}

// Changed paints what has changed in the pane: now, or at the end of the frame gap.
func (s *Spot) Changed() {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.adopt()
	s.changed()
}

func (s *Spot) changed() {
	if s.pane == nil || s.timer != nil {
		return
	}
	gap := frameGap
	if s.pane.Watched {
		gap = watchedGap
	}
	if wait := gap - s.w.now().Sub(s.last); wait > 0 {
		s.after(wait)
		return
	}
	s.due = true
	s.w.frame(nil)
}

func (s *Spot) after(d time.Duration) {
	s.timer = s.w.later(d, func() {
		s.w.mu.Lock()
		defer s.w.mu.Unlock()
		s.timer = nil
		s.w.adopt()
		if s.pane != nil {
			s.due = true
			s.w.frame(nil)
		}
	})
}

// SetPane shows a pane, or the same one with another box, scroll position or selection. It does not wait for the
// terminal: the pane is painted soon after, and before anything that Bubble Tea writes from now on.
func (s *Spot) SetPane(p Pane) {
	if p.Source == nil || p.Box.W <= 0 || p.Box.H <= 0 {
		s.Suspend()
		return
	}
	s.want(&p)
}

// Suspend stops drawing the pane, because it will be covered or is gone, and leaves its place blank, as Bubble Tea
// assumes it to be.
func (s *Spot) Suspend() { s.want(nil) }

func (s *Spot) want(p *Pane) {
	s.next.Lock()
	defer s.next.Unlock()
	if s.next.last.equal(p) {
		return
	}
	s.next.pane, s.next.last, s.next.set = p, p, true
	if !s.next.queued {
		s.next.queued = true
		time.AfterFunc(0, s.adoptNow)
	}
}

func (s *Spot) adoptNow() {
	s.next.Lock()
	s.next.queued = false
	s.next.Unlock()
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if s.w.adopt() {
		s.w.frame(nil)
	}
}

// adopt switches to the requested panes, and reports whether there were any.
func (w *Writer) adopt() (any bool) {
	w.spinners.adopt()
	for _, s := range w.spots {
		any = s.adopt() || any
	}
	return any
}

func (s *Spot) adopt() bool {
	s.next.Lock()
	p, set := s.next.pane, s.next.set
	s.next.set = false
	s.next.Unlock()
	if !set {
		return false
	}
	if s.w.closed {
		p = nil
	}
	switch {
	case p == nil:
		s.stopTimers()
		s.gone = s.gone || s.pane != nil
	case s.pane == nil:
		s.fresh = true
	default:
		s.fresh = s.fresh || s.pane.Source != p.Source
		s.moved = s.moved || s.pane.Box != p.Box
	}
	s.pane, s.due = p, true
	return true
}
