package vterm

// Resize changes the size. The main screen and its history are wrapped again at the new width; the
// alternate screen is cut or padded, as its program will draw it again.
func (t *Terminal) Resize(cols, rows int) {
	cols, rows = Bound(cols, rows)
	if cols == t.cols && rows == t.rows {
		return
	}
	t.gen++
	t.joinable = false
	onAlt := t.scr == &t.alt
	at := place{t.x, t.y, t.wrapPending}
	saved := place{t.main.saved.x, t.main.saved.y, t.main.saved.wrapPending}
	mainAt := at
	if onAlt {
		mainAt = saved
	}
	mainAt, saved = t.reflow(cols, rows, mainAt, saved)
	altY := -1
	if onAlt {
		altY = t.y
	}
	shift := t.cut(&t.alt, cols, rows, altY)

	t.cols, t.rows = cols, rows
	t.top, t.bottom = 0, rows-1
	t.resizeTabs()
	if s := &t.main.saved; s.set {
		s.x, s.y = clamp(saved.x, 0, cols-1), clamp(saved.y, 0, rows-1)
		s.wrapPending = saved.pending && s.x == cols-1
	}
	if s := &t.alt.saved; s.set {
		s.x, s.y = clamp(s.x, 0, cols-1), clamp(s.y-shift, 0, rows-1)
		s.wrapPending = s.wrapPending && s.x == cols-1
	}
	if onAlt {
		at.y -= shift
		at.pending = at.pending && at.x == cols-1
		mainAt = at
	}
	t.x, t.y = clamp(mainAt.x, 0, cols-1), clamp(mainAt.y, 0, rows-1)
	t.wrapPending = mainAt.pending && t.modes.AutoWrap && t.x == cols-1
	t.touchAll()
}

func (t *Terminal) resizeTabs() {
	tabs := make([]bool, t.cols)
	n := copy(tabs, t.tabs)
	for i := (n + 7) / 8 * 8; i < t.cols; i += 8 {
		tabs[i] = i > 0
	}
	t.tabs = tabs
}

// cut changes the size of a screen without wrapping. Rows fall off below, and above only as far as the cursor
// needs it; it returns how many fell off above.
func (t *Terminal) cut(s *screen, cols, rows, cursorY int) int {
	shift := max(0, cursorY-rows+1)
	s.rows = s.rows[shift:]
	if len(s.rows) > rows {
		s.rows = s.rows[:rows]
	}
	s.rows = append([]*row(nil), s.rows...)
	for _, r := range s.rows {
		if r.used > cols {
			r.split(cols)
			r.used = cols
		}
		if len(r.cells) > 0 {
			used := r.used
			r.cells = append(make([]cell, 0, cols), r.cells[:used]...)[:cols]
		}
		r.wrapped = false
	}
	for len(s.rows) < rows {
		s.rows = append(s.rows, t.newRow())
	}
	return shift
}

// place is a position that follows its text through a reflow.
type place struct {
	x, y    int
	pending bool
}

// reflow rewraps history and main screen. It returns where the given places have gone.
func (t *Terminal) reflow(cols, rows int, cursor, saved place) (place, place) {
	t.keepStyles = true
	defer func() { t.keepStyles = false }()
	old := t.main.rows
	last := cursor.y
	for y := len(old) - 1; y > last; y-- {
		if old[y].used > 0 {
			last = y
		}
	}
	full := last == len(old)-1
	f := &reflower{t: t, cols: cols, old: old, places: [2]place{cursor, saved}}
	if cols == t.cols {
		f.hist, f.rows, f.gone = t.history, old[:last+1], f.places
		return f.settle(rows, full)
	}
	f.hist.maxLines, f.hist.maxBytes = t.history.maxLines, t.history.maxBytes
	f.history()
	for y := 0; y <= last; y++ {
		f.screenRow(y)
	}
	f.flush()
	if below := saved.y - last; below > 0 {
		f.gone[1] = place{x: saved.x, y: len(f.rows) + below - 1}
	}
	return f.settle(rows, full)
}

// reflower builds the new lines. Lines of the history that fit are copied as they are packed.
type reflower struct {
	t       *Terminal
	cols    int
	hist    history
	rows    []*row // new lines that may become screen rows
	first   int    // index in rows of the line that holds the old top left corner
	logical []cell // the logical line being collected
	pending int    // old screen rows in it
	marks   []mark
	old     []*row
	places  [2]place
	gone    [2]place // where they are, y as index in rows
}

// mark is a position in the logical line that must be found again.
type mark struct {
	offset int
	which  int // place, or -1 for the top of the screen
}

// history rewraps the packed lines. The tail of a logical line that continues in the screen stays collected.
func (f *reflower) history() {
	open := false
	f.t.history.each(func(line []byte) {
		u := newUnpacker(line)
		if !open && !u.wrapped && u.cells <= f.cols {
			f.hist.pushPacked(line)
			return
		}
		f.logical, open = f.t.unpack(f.logical, line)
		if !open || len(f.logical) > maxLogical {
			open = false
			f.wrapLine(func(r *row) { f.hist.push(f.t, r) })
			f.logical = f.logical[:0]
		}
	})
}

// maxLogical caps the cells collected as one line, so that a flood without line feeds costs no memory.
const maxLogical = 1 << 18

// screenRow collects row y of the old screen.
func (f *reflower) screenRow(y int) {
	r := f.old[y]
	base := len(f.logical)
	f.pending++
	if y == 0 {
		f.marks = append(f.marks, mark{base, -1})
	}
	for i, p := range f.places {
		if p.y == y {
			x := p.x
			if p.pending {
				x++
			}
			f.marks = append(f.marks, mark{base + x, i})
		}
	}
	if r.used > 0 {
		f.logical = append(f.logical, r.cells[:r.used]...)
	}
	if !r.wrapped || len(f.logical) > maxLogical {
		f.flush()
	}
}

// flush wraps the collected line into rows.
func (f *reflower) flush() {
	if f.pending == 0 && len(f.logical) == 0 {
		return
	}
	f.wrapLine(func(r *row) { f.rows = append(f.rows, r) })
	f.logical, f.marks, f.pending = f.logical[:0], f.marks[:0], 0
}

// wrapLine cuts the collected line at the new width and places the marks.
func (f *reflower) wrapLine(out func(*row)) {
	line := f.logical
	for len(line) > 0 && line[len(line)-1] == blankCell(0) {
		line = line[:len(line)-1]
	}
	start, index := 0, len(f.rows)
	for {
		end := min(start+f.cols, len(line))
		if end < len(line) && line[end].width() == 0 && end-1 > start {
			end-- // a wide character goes to the next row whole
		}
		more := end < len(line)
		r := f.t.newRow()
		if end > start {
			r.cells = make([]cell, f.cols)
			r.used = copy(r.cells, line[start:end])
			if last := r.cells[r.used-1]; f.cols == 1 && last.width() != 1 {
				r.cells[r.used-1] = blankCell(last.style())
			}
		}
		r.wrapped = more
		f.placeMarks(start, end, more, index)
		out(r)
		index++
		start = end
		if !more {
			return
		}
	}
}

func (f *reflower) placeMarks(start, end int, more bool, index int) {
	for _, m := range f.marks {
		if m.offset < start || m.offset >= end && more {
			continue
		}
		if m.which < 0 {
			f.first = index
			continue
		}
		x := m.offset - start
		f.gone[m.which] = place{x: min(x, f.cols-1), y: index, pending: x >= f.cols && m.offset <= end}
	}
}

// settle cuts the new lines into history and screen.
func (f *reflower) settle(rows int, full bool) (place, place) {
	t := f.t
	top := f.first
	if len(f.rows)-top > rows || full {
		top = max(0, len(f.rows)-rows)
	}
	top = min(top, f.gone[0].y)
	back := 0
	if full && len(f.rows) < rows {
		back = f.takeBack(rows - len(f.rows))
	}
	for i := range top {
		t.scrolled++
		f.hist.push(t, f.rows[i])
	}
	screen := f.rows[top:]
	screen = screen[:min(len(screen), rows)]
	t.main.rows = append([]*row(nil), screen...)
	for len(t.main.rows) < rows {
		t.main.rows = append(t.main.rows, t.newRow())
	}
	if n := len(t.main.rows); n > 0 {
		t.main.rows[n-1].wrapped = false
	}
	t.history = f.hist
	t.scrolled = max(t.scrolled, uint64(t.history.count))
	for i := range f.gone {
		f.gone[i].y = clamp(f.gone[i].y+back-top, 0, rows-1)
	}
	return f.gone[0], f.gone[1]
}

// takeBack brings up to n lines of the history back in front of the rows.
func (f *reflower) takeBack(n int) int {
	n = min(n, f.hist.count)
	if n == 0 {
		return 0
	}
	taken := make([]*row, n)
	for i := range taken {
		r := f.t.newRow()
		cells, wrapped := f.t.unpack(nil, f.hist.line(f.hist.count-n+i))
		if len(cells) > 0 {
			r.cells = make([]cell, f.cols)
			r.used = copy(r.cells, cells)
		}
		r.wrapped = wrapped
		taken[i] = r
	}
	f.hist.dropNewest(n)
	f.rows = append(taken, f.rows...)
	return n
}
