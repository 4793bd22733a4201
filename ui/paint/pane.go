package paint

import (
	"sync"
	"time"

	"orchestrator/agent/vterm"
	"orchestrator/ui/layout"
)

// Source is a terminal that somebody else feeds. View calls f with the terminal locked.
type Source interface {
	View(f func(*vterm.Terminal))
}

// Box is a rectangle of the person's screen in cells.
type Box = layout.Box

// Pane is what is to be drawn, and where.
type Pane struct {
	Box    Box
	Source Source
	// Scrolled shows history from line Top on, in the numbering of vterm.Terminal.FirstLine.
	Scrolled bool
	Top      uint64
	// Selection is shown reversed.
	Selection *vterm.Selection
	// Cursor shows the program's cursor, where it shows one: the pane has the keyboard.
	Cursor bool
}

func (p *Pane) equal(o *Pane) bool {
	if p == nil || o == nil {
		return p == o
	}
	a, b := *p, *o
	a.Selection, b.Selection = nil, nil
	same := p.Selection == o.Selection || p.Selection != nil && o.Selection != nil && *p.Selection == *o.Selection
	return a == b && same
}

// wanted is the pane that was asked for last. Its lock is the innermost: nothing is called while it is held.
type wanted struct {
	sync.Mutex
	pane, last *Pane
	set        bool // pane is not adopted yet
	queued     bool // adoptNow will run
}

// SetPane shows a pane, or the same one with another box, scroll or selection. It does not wait for the
// terminal: the pane is painted soon after, and before anything that Bubble Tea writes from now on.
func (w *Writer) SetPane(p Pane) {
	if p.Source == nil || p.Box.W <= 0 || p.Box.H <= 0 {
		w.Suspend()
		return
	}
	w.want(&p)
}

// Suspend stops drawing the pane, because something will lie over it or it is gone, and leaves its place
// blank, as Bubble Tea believes it to be.
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
	} else if out := w.back(w.wipe(nil)); len(out) > 0 && w.err == nil {
		w.err = w.put(out)
	}
}

// adopt takes over the pane that was asked for; it tells whether there was one.
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
