package paint

import (
	"time"

	"orchestrator/agent/vterm"

	"github.com/charmbracelet/colorprofile"
)

// frame writes Bubble Tea's output, if any, followed by the changed rows of the panes that are due.
func (w *Writer) frame(out []byte) {
	before := len(out)
	owner := w.owner()
	jumps := owner != w.owned
	w.owned = owner
	for _, s := range w.spots {
		switch {
		case s.moved || s.gone:
			out = s.clear(out) // its old place
		case s.fresh:
			s.forget()
		}
		jumps = jumps || s == owner && (s.moved || s.fresh)
		s.moved, s.fresh, s.gone = false, false, false
	}
	switch {
	case w.chrome.Modes().AltScreen:
		out = w.paint(out, owner, jumps)
	case owner == nil:
		out = w.back(out)
	}
	now := time.Time{}
	if len(out) > before {
		now = w.now()
	}
	for _, s := range w.spots {
		if s.due && !now.IsZero() {
			s.last = now
		}
		s.due = false
	}
	if len(out) > 0 && w.err == nil {
		w.err = w.put(out)
	}
}

// owner returns the spot whose pane may show the cursor, nil if there is none.
func (w *Writer) owner() *Spot {
	for _, s := range w.spots {
		if s.owns() {
			return s
		}
	}
	return nil
}

// paint appends a frame of the panes that are due, or nothing if the screen is up to date. The cursor jumps if it is in
// another program's pane than before, or that is elsewhere.
func (w *Writer) paint(out []byte, owner *Spot, jumps bool) []byte {
	p := &w.painter
	p.out, p.profile, p.styled = p.out[:0], w.profile, false
	at := cursorAt{}
	if owner != nil {
		at = w.cursorWas // unless it is due
		owner.due = owner.due || jumps
	}
	for _, s := range w.spots {
		if s.pane == nil || !s.due {
			continue
		}
		s.touched()
		s.pane.Source.View(func(t *vterm.Terminal) {
			p.term = t
			if s.held(t) {
				return // between the halves of a frame the cursor stays where it was, too
			}
			s.compare(t)
			s.drawRows(t)
			if s == owner {
				at = s.cursor(t)
				if jumps {
					w.drift.stop()
				} else {
					at = w.parked(at, s.wake)
				}
			}
		})
		p.term = nil
	}
	w.drawSpinners()
	return w.compose(out, at)
}

// compose assembles the frame: save Bubble Tea's cursor, draw rows, then place our cursor or restore Bubble Tea's. A
// hidden cursor is placed too: windows of input methods open at it.
func (w *Writer) compose(out []byte, at cursorAt) []byte {
	rows := w.painter.out
	stays := !at.ours && !w.cursorWas.ours && !w.shown && !w.away || at.ours && w.away && w.cursorWas == at && w.shown == at.visible
	if len(rows) == 0 && stays {
		return out
	}
	out = append(out, "\x1b[?2026h"...)
	if !w.away {
		out = append(out, "\x1b7"...)
		w.away = true
	}
	if len(rows) > 0 {
		if w.shown {
			out = append(out, "\x1b[?25l"...)
			w.shown = false
		}
		out = append(out, rows...)
		if w.profile > colorprofile.NoTTY {
			out = append(out, "\x1b[m"...)
		}
	}
	w.cursorWas = at
	if at.ours {
		out = w.placeCursor(out, at)
	} else {
		out = w.back(out)
	}
	return append(out, "\x1b[?2026l"...)
}
