package paint

import "orchestrator/agent/vterm"

// owns reports whether the pane may show a cursor.
func (s *Spot) owns() bool { return s.pane != nil && (s.pane.Cursor || s.pane.Caret != nil) }

// cursor returns the cursor in the pane.
func (s *Spot) cursor(t *vterm.Terminal) cursorAt {
	pane := s.pane
	c, ours := t.Cursor(), false
	if pane.Caret == nil {
		row := c.Y - pane.hidden(t)
		ours = pane.Cursor && !pane.Scrolled && c.X < pane.Box.W && row >= 0 && row < pane.Box.H
		c.Y = row
	} else {
		row := int64(pane.Caret.Line) - int64(pane.topLine(t))
		c = vterm.Cursor{X: pane.Caret.X, Y: int(row), Visible: true, Style: vterm.CursorSteadyBlock}
		ours = row >= 0 && row < int64(pane.Box.H) && c.X < pane.Box.W
	}
	return cursorAt{pane.Box.X + c.X, pane.Box.Y + c.Y, ours, ours && c.Visible, c.Style}
}

// touched invalidates the rows that Bubble Tea has drawn on since the last frame.
func (s *Spot) touched() {
	box := s.pane.Box
	_, rows := s.w.chrome.Size()
	if len(s.rows) != box.H {
		s.rows = make([]rowKey, box.H)
	}
	if len(s.chromeRows) != rows {
		s.chromeRows = make([]uint64, rows)
		s.forget()
	}
	for y := range rows {
		g := s.w.chrome.RowGeneration(y)
		if g == s.chromeRows[y] {
			continue
		}
		s.chromeRows[y] = g
		if i := y - box.Y; i >= 0 && i < box.H {
			s.rows[i].valid = false
		}
	}
}

// compare invalidates all rows if something has changed that affects each of them.
func (s *Spot) compare(t *vterm.Terminal) {
	l := look{term: t, reverse: t.Modes().ReverseVideo}
	l.fg, l.bg = t.DefaultColors()
	l.cols, l.rows = t.Size()
	if l != s.looked {
		s.looked = l
		s.forget()
	}
	s.w.painter.look = l
}

// drawRows draws the rows whose content differs from what was painted.
func (s *Spot) drawRows(t *vterm.Terminal) {
	pane, p := s.pane, &s.w.painter
	cols, rows := t.Size()
	first := t.FirstLine()
	screen := first + uint64(t.History())
	top := pane.topLine(t)
	maxCols, maxRows := s.w.chrome.Size()
	width := min(pane.Box.W, maxCols-pane.Box.X)
	s.painted = Box{X: pane.Box.X, Y: pane.Box.Y, W: width, H: pane.Box.H}
	for i := range s.rows {
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
		if key == s.rows[i] || pane.Box.Y+i >= maxRows {
			continue
		}
		s.rows[i] = key
		if line < screen+uint64(rows) {
			p.cells, _ = t.Line(p.cells[:0], line)
		} else {
			p.cells = p.cells[:0]
		}
		p.row(pane.Box.X, pane.Box.Y+i, width, key.selA, key.selB, found)
	}
}
