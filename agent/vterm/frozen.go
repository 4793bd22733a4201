package vterm

// Frozen returns what makes a terminal that shows what this one shows now, with its history. Its lines are numbered
// from the oldest one that is kept, and nothing is held back in it. What is returned may be called without the lock that
// guards this terminal.
func (t *Terminal) Frozen() (thaw func() *Terminal) {
	state, cols, rows := t.Snapshot(-1), t.cols, t.rows
	opts := Options{Scrollback: t.opts.Scrollback, ScrollbackBytes: t.opts.ScrollbackBytes}
	return func() *Terminal {
		f := New(cols, rows, opts)
		_, _ = f.Write(state)
		f.modes.Sync = false
		return f
	}
}

// Wrapped reports whether the text of line n, in the numbering of FirstLine, continues in the next one.
func (t *Terminal) Wrapped(n uint64) bool {
	first := t.FirstLine()
	if n < first {
		return false
	}
	i, h := n-first, uint64(t.History())
	switch {
	case i < h:
		line := t.history.line(int(i))
		return len(line) > 0 && line[0]&lineWrapped != 0
	case i-h < uint64(t.rows):
		return t.scr.rows[i-h].wrapped
	default:
		return false
	}
}

// Place is a place in the text, whatever the width that it is wrapped at: the number of a line as it was printed, and
// how many cells into it.
type Place struct {
	Line uint64
	Cell int
}

// PlaceOf returns the place of a point.
func (t *Terminal) PlaceOf(p Point) (at Place) {
	for n := t.FirstLine(); n < p.Line; n++ {
		if t.Wrapped(n) {
			at.Cell += t.cells(n)
			continue
		}
		at.Line, at.Cell = at.Line+1, 0
	}
	at.Cell += p.X
	return at
}

// PointOf returns the point that a place has now: the last one if there is no such place any more.
func (t *Terminal) PointOf(at Place) Point {
	n, last := t.FirstLine(), t.FirstLine()+uint64(t.History()+t.rows-1)
	for line := uint64(0); line < at.Line && n < last; n++ {
		if !t.Wrapped(n) {
			line++
		}
	}
	for n < last && t.Wrapped(n) && at.Cell >= t.cells(n) {
		at.Cell -= t.cells(n)
		n++
	}
	return Point{Line: n, X: min(at.Cell, t.cols-1)}
}

// cells returns how many cells of line n are real.
func (t *Terminal) cells(n uint64) int {
	i, h := n-t.FirstLine(), uint64(t.History())
	if i >= h {
		return t.scr.rows[i-h].used
	}
	u := newUnpacker(t.history.line(int(i)))
	return u.cells
}
