package paint

import "orchestrator/agent/vterm"

// parked returns where the cursor is to be placed that is at a place now. wake paints its pane.
func (w *Writer) parked(at cursorAt, wake func()) cursorAt {
	was, d := w.cursorWas, &w.drift
	if at.visible || !at.ours || !was.ours || at.x == was.x && at.y == was.y {
		d.stop()
		return at
	}
	now := w.now()
	if d.left.IsZero() {
		d.left = now
	}
	if d.x != at.x || d.y != at.y || d.since.IsZero() {
		d.x, d.y, d.since = at.x, at.y, now
	}
	wait := min(parkDelay-now.Sub(d.since), parkLimit-now.Sub(d.left))
	if wait <= 0 {
		d.stop()
		return at
	}
	if d.timer == nil {
		d.timer = w.later(wait, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.drift.timer = nil
			wake()
		})
	}
	at.x, at.y = was.x, was.y
	return at
}

func (w *Writer) placeCursor(out []byte, at cursorAt) []byte {
	out = moveTo(out, at.x, at.y)
	if w.shape != at.style {
		out = append(out, '\x1b', '[', '0'+byte(at.style), ' ', 'q')
		w.shape = at.style
	}
	switch {
	case at.visible && !w.shown:
		out = append(out, "\x1b[?25h"...)
	case !at.visible && w.shown:
		out = append(out, "\x1b[?25l"...)
	}
	w.shown = at.visible
	return out
}

// back appends what returns the cursor to Bubble Tea, if we have it.
func (w *Writer) back(out []byte) []byte {
	if w.shown {
		out = append(out, "\x1b[?25l"...)
		w.shown = false
	}
	if w.shape != vterm.CursorDefault {
		out = append(out, "\x1b[0 q"...)
		w.shape = vterm.CursorDefault
	}
	if w.away {
		out = append(out, "\x1b8"...)
		w.away = false
	}
	return out
}
