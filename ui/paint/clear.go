package paint

import (
	"strconv"
)

// clear appends what leaves the painted rows as Bubble Tea assumes them to be.
func (s *Spot) clear(out []byte) []byte { return s.wipe(s.uncover(out)) }

// wipe appends what blanks the painted rows: because Bubble Tea draws there now, or because its next output moves cells,
// and those of the pane must not move into the chrome.
func (s *Spot) wipe(out []byte) []byte {
	w := s.w
	if !w.chrome.Modes().AltScreen {
		s.forget() // Bubble Tea has left the alternate screen, and the pane is gone too
		return out
	}
	painted := false
	for i := range s.rows {
		if !s.rows[i].valid {
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
		out = moveTo(out, s.painted.X, s.painted.Y+i)
		out = append(out, "\x1b["...)
		out = strconv.AppendInt(out, int64(s.painted.W), 10)
		out = append(out, 'X')
	}
	if painted {
		out = append(out, "\x1b[?2026l"...)
		s.bared()
	}
	s.forget()
	return out
}

// bared has panes painted again that stand where something was written in the place of this one.
func (s *Spot) bared() {
	for _, o := range s.w.spots {
		if o != s && o.pane != nil && o.painted.Overlaps(s.painted) {
			o.forget()
			o.due = true
		}
	}
}

// uncover appends what restores Bubble Tea's content below the painted rows where there is some. The pane may have moved
// or appeared before Bubble Tea knows, which will not draw again what it believes to be there.
func (s *Spot) uncover(out []byte) []byte {
	w := s.w
	if !w.chrome.Modes().AltScreen {
		return out
	}
	p := &w.painter
	p.out, p.profile, p.styled, p.term, p.look = p.out[:0], w.profile, false, w.chrome, look{}
	_, rows := w.chrome.Size()
	for i := range s.rows {
		y := s.painted.Y + i
		if !s.rows[i].valid || y >= rows {
			continue
		}
		p.cells = w.chrome.Row(p.cells[:0], y)
		p.cells = p.cells[min(s.painted.X, len(p.cells)):min(s.painted.X+s.painted.W, len(p.cells))]
		if !Blank(p.cells) {
			p.row(s.painted.X, y, s.painted.W, 0, 0, nil)
			s.rows[i] = rowKey{}
		}
	}
	p.term = nil
	if len(p.out) > 0 {
		s.bared()
	}
	return w.besides(out, p.out)
}

// besides appends what was drawn while Bubble Tea has the cursor.
func (w *Writer) besides(out, drawn []byte) []byte {
	if len(drawn) == 0 {
		return out
	}
	out = append(out, "\x1b[?2026h"...)
	if !w.away {
		out = append(out, "\x1b7"...)
		w.away = true
	}
	out = append(out, drawn...)
	return append(out, "\x1b[m\x1b[?2026l"...)
}
