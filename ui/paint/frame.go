package paint

import (
	"strconv"

	"orchestrator/agent/vterm"

	"github.com/charmbracelet/colorprofile"
)

// frame writes Bubble Tea's output, if any, followed by the changed rows of the pane.
func (w *Writer) frame(out []byte) {
	before := len(out)
	jumps := w.moved || w.fresh
	if w.moved {
		out = w.clear(out) // its old place
	} else if w.fresh {
		w.forget()
	}
	w.moved, w.fresh = false, false
	if w.chrome.Modes().AltScreen {
		out = w.paint(out, jumps)
	}
	if len(out) > before {
		w.last = w.now()
	}
	if len(out) > 0 && w.err == nil {
		w.err = w.put(out)
	}
}

// paint appends a frame of the pane, or nothing if the screen is up to date. The cursor jumps if the pane shows another
// program or is elsewhere.
func (w *Writer) paint(out []byte, jumps bool) []byte {
	pane := w.pane
	w.touched()
	p := &w.painter
	p.out, p.profile, p.styled = p.out[:0], w.profile, false
	var cursor vterm.Cursor
	held, ours := false, false
	pane.Source.View(func(t *vterm.Terminal) {
		p.term = t
		if held = w.held(t); held {
			return
		}
		w.compare(t)
		w.drawRows(t)
		cursor, ours = w.cursorIn(t)
	})
	p.term = nil
	if held && len(out) == 0 {
		return out
	}
	at := cursorAt{pane.Box.X + cursor.X, pane.Box.Y + cursor.Y, ours, ours && cursor.Visible, cursor.Style}
	switch {
	case held:
		at = w.cursorWas // between the halves of a frame the cursor stays where it was
	case jumps:
		w.drift.stop()
	default:
		at = w.parked(at)
	}
	return w.compose(out, at)
}

// cursorIn returns the cursor in the pane, and whether it is shown there.
func (w *Writer) cursorIn(t *vterm.Terminal) (c vterm.Cursor, ours bool) {
	pane := w.pane
	c = t.Cursor()
	if pane.Caret == nil {
		return c, pane.Cursor && !pane.Scrolled && c.X < pane.Box.W && c.Y < pane.Box.H
	}
	row := int64(pane.Caret.Line) - int64(pane.topLine(t))
	c = vterm.Cursor{X: pane.Caret.X, Y: int(row), Visible: true, Style: vterm.CursorSteadyBlock}
	return c, row >= 0 && row < int64(pane.Box.H) && c.X < pane.Box.W
}

// touched invalidates the rows that Bubble Tea has drawn on since the last frame.
func (w *Writer) touched() {
	box := w.pane.Box
	_, rows := w.chrome.Size()
	if len(w.rows) != box.H {
		w.rows = make([]rowKey, box.H)
	}
	if len(w.chromeRows) != rows {
		w.chromeRows = make([]uint64, rows)
		w.forget()
	}
	for y := range rows {
		g := w.chrome.RowGeneration(y)
		if g == w.chromeRows[y] {
			continue
		}
		w.chromeRows[y] = g
		if i := y - box.Y; i >= 0 && i < box.H {
			w.rows[i].valid = false
		}
	}
}

// compare invalidates all rows if something has changed that affects each of them.
func (w *Writer) compare(t *vterm.Terminal) {
	l := look{term: t, reverse: t.Modes().ReverseVideo}
	l.fg, l.bg = t.DefaultColors()
	l.cols, l.rows = t.Size()
	if l != w.looked {
		w.looked = l
		w.forget()
	}
	w.painter.look = l
}

// drawRows draws the rows whose content differs from what was painted.
func (w *Writer) drawRows(t *vterm.Terminal) {
	pane, p := w.pane, &w.painter
	cols, rows := t.Size()
	first := t.FirstLine()
	screen := first + uint64(t.History())
	top := pane.topLine(t)
	maxCols, maxRows := w.chrome.Size()
	width := min(pane.Box.W, maxCols-pane.Box.X)
	w.painted = Box{X: pane.Box.X, Y: pane.Box.Y, W: width, H: pane.Box.H}
	for i := range w.rows {
		line := top + uint64(i)
		key := rowKey{valid: true}
		switch {
		case line < screen:
			key.line = line + 1
		case line < screen+uint64(rows):
			key.gen = t.RowGeneration(int(line - screen))
		}
		if pane.Selection != nil {
			key.selA, key.selB, _ = pane.Selection.Columns(line, max(cols, pane.Box.W))
		}
		found := pane.Matches.on(line)
		if found != nil {
			key.matches = pane.Matches
		}
		if key == w.rows[i] || pane.Box.Y+i >= maxRows {
			continue
		}
		w.rows[i] = key
		if line < screen+uint64(rows) {
			p.cells, _ = t.Line(p.cells[:0], line)
		} else {
			p.cells = p.cells[:0]
		}
		p.row(pane.Box.X, pane.Box.Y+i, width, key.selA, key.selB, found)
	}
}

// clear appends what leaves the painted rows as Bubble Tea assumes them to be.
func (w *Writer) clear(out []byte) []byte { return w.wipe(w.uncover(out)) }

// wipe appends what blanks the painted rows: because Bubble Tea draws there now, or because its next output moves cells,
// and those of the pane must not move into the chrome.
func (w *Writer) wipe(out []byte) []byte {
	if !w.chrome.Modes().AltScreen {
		w.forget() // Bubble Tea has left the alternate screen, and the pane is gone too
		return out
	}
	painted := false
	for i := range w.rows {
		if !w.rows[i].valid {
			continue
		}
		if !painted {
			painted = true
			out = append(out, "\x1b[?2026h"...)
			if !w.away {
				out = append(out, "\x1b7"...)
				w.away = true
			}
			out = append(out, "\x1b[m"...)
		}
		out = moveTo(out, w.painted.X, w.painted.Y+i)
		out = append(out, "\x1b["...)
		out = strconv.AppendInt(out, int64(w.painted.W), 10)
		out = append(out, 'X')
	}
	if painted {
		out = append(out, "\x1b[?2026l"...)
	}
	w.forget()
	return out
}

// uncover appends what restores Bubble Tea's content below the painted rows where there is some. The pane may have moved
// or appeared before Bubble Tea knows, which will not draw again what it believes to be there.
func (w *Writer) uncover(out []byte) []byte {
	if !w.chrome.Modes().AltScreen {
		return out
	}
	p := &w.painter
	p.out, p.profile, p.styled, p.term, p.look = p.out[:0], w.profile, false, w.chrome, look{}
	_, rows := w.chrome.Size()
	for i := range w.rows {
		y := w.painted.Y + i
		if !w.rows[i].valid || y >= rows {
			continue
		}
		p.cells = w.chrome.Row(p.cells[:0], y)
		p.cells = p.cells[min(w.painted.X, len(p.cells)):min(w.painted.X+w.painted.W, len(p.cells))]
		if !blank(p.cells) {
			p.row(w.painted.X, y, w.painted.W, 0, 0, nil)
			w.rows[i] = rowKey{}
		}
	}
	p.term = nil
	if len(p.out) == 0 {
		return out
	}
	out = append(out, "\x1b[?2026h"...)
	if !w.away {
		out = append(out, "\x1b7"...)
		w.away = true
	}
	out = append(out, p.out...)
	return append(out, "\x1b[m\x1b[?2026l"...)
}

func blank(cells []vterm.Cell) bool {
	for i := range cells {
		if c := &cells[i]; c.Rune > ' ' || c.Cluster != "" || c.Style != (vterm.Style{}) {
			return false
		}
	}
	return true
}

// compose assembles the frame: save Bubble Tea's cursor, draw rows, then place our cursor or restore Bubble Tea's. A
// hidden cursor is placed too: windows of input methods open at it.
func (w *Writer) compose(out []byte, at cursorAt) []byte {
	rows := w.painter.out
	stays := !at.ours && !w.cursorWas.ours && !w.shown || at.ours && w.away && w.cursorWas == at && w.shown == at.visible
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
