package paint

import (
	"orchestrator/agent/vterm"
)

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
