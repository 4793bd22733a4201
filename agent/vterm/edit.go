package vterm

// control executes a C0 control.
func (t *Terminal) control(c byte) {
	switch c {
	case 0x07:
		t.emit(Bell{})
	case '\b':
		t.moveTo(t.x-1, t.y)
	case '\t':
		t.tab(1)
	case '\n', '\v', '\f':
		t.joinable = false
		if t.modes.NewLine {
			t.x = 0
		}
		t.wrapPending = false
		t.index()
	case '\r':
		t.x, t.wrapPending, t.joinable = 0, false, false
	case 0x0e:
		t.charsets.gl = 1
	case 0x0f:
		t.charsets.gl = 0
	}
}

// tab moves over n tab stops, to the last column at most.
func (t *Terminal) tab(n int) {
	x := t.x
	for ; n > 0 && x < t.cols-1; n-- {
		for x++; x < t.cols-1 && !t.tabs[x]; x++ {
		}
	}
	if x != t.x {
		t.moveTo(x, t.y)
	}
}

func (t *Terminal) backTab(n int) {
	x := t.x
	for ; n > 0 && x > 0; n-- {
		for x--; x > 0 && !t.tabs[x]; x-- {
		}
	}
	t.moveTo(x, t.y)
}

// index moves the cursor down a line, scrolling at the end of the region.
func (t *Terminal) index() {
	if t.y == t.bottom {
		t.scrollUp(t.top, 1, true)
	} else if t.y < t.rows-1 {
		t.y++
	}
}

func (t *Terminal) reverseIndex() {
	t.wrapPending, t.joinable = false, false
	if t.y == t.top {
		t.scrollDown(t.top, 1)
	} else if t.y > 0 {
		t.y--
	}
}

// scrollUp moves lines top..bottom of the region up by n. Lines that leave the main screen at its top by
// running text are kept in the history.
func (t *Terminal) scrollUp(top, n int, keep bool) {
	rows := t.scr.rows
	n = min(n, t.bottom-top+1)
	t.shifts++
	keep = keep && top == 0 && t.scr == &t.main && t.history.maxLines > 0
	t.joinable = false
	if !keep && top > 0 {
		rows[top-1].wrapped = false
	}
	region := rows[top : t.bottom+1]
	if keep {
		for _, r := range region[:n] {
			t.scrolled++
			t.history.push(t, r)
		}
	}
	t.moving = append(t.moving[:0], region[:n]...)
	copy(region, region[n:])
	copy(region[len(region)-n:], t.moving)
	blank := t.blank()
	for _, r := range t.moving {
		t.clearRow(r, blank)
	}
	if last := len(region) - n - 1; last >= 0 && t.bottom < t.rows-1 && !keep {
		region[last].wrapped = false // its continuation is below the region
	}
}

// scrollDown moves lines top..bottom of the region down by n.
func (t *Terminal) scrollDown(top, n int) {
	rows := t.scr.rows
	n = min(n, t.bottom-top+1)
	t.shifts++
	t.joinable = false
	if top > 0 {
		rows[top-1].wrapped = false
	}
	region := rows[top : t.bottom+1]
	t.moving = append(t.moving[:0], region[len(region)-n:]...)
	copy(region[n:], region)
	copy(region, t.moving)
	blank := t.blank()
	for _, r := range t.moving {
		t.clearRow(r, blank)
	}
	rows[t.bottom].wrapped = false
}

// insertLines and deleteLines are IL and DL: they work inside the region only.
func (t *Terminal) insertLines(n int) {
	if t.y < t.top || t.y > t.bottom {
		return
	}
	t.scrollDown(t.y, n)
	t.x, t.wrapPending = 0, false
}

func (t *Terminal) deleteLines(n int) {
	if t.y < t.top || t.y > t.bottom {
		return
	}
	t.scrollUp(t.y, n, false)
	t.x, t.wrapPending = 0, false
}

// erase blanks cells a..b-1 of line y, sparing protected ones if asked to.
func (t *Terminal) erase(y, a, b int, selective bool) {
	r := t.row(y)
	t.joinable = false
	if b >= t.cols {
		r.wrapped = false
	}
	if !selective {
		r.fill(a, b, t.cols, t.blank())
		return
	}
	for x := a; x < min(b, r.used); x++ {
		if t.styles.vals[r.cells[x].style()].Attr&Protected == 0 {
			r.fill(x, x+1, t.cols, t.blank())
		}
	}
}

// eraseDisplay is ED and DECSED.
func (t *Terminal) eraseDisplay(mode int, selective bool) {
	t.wrapPending = t.wrapPending && mode != 0 && mode != 1
	switch mode {
	case 0:
		t.erase(t.y, t.x, t.cols, selective)
		for y := t.y + 1; y < t.rows; y++ {
			t.erase(y, 0, t.cols, selective)
		}
	case 1:
		for y := 0; y < t.y; y++ {
			t.erase(y, 0, t.cols, selective)
		}
		t.erase(t.y, 0, t.x+1, selective)
	case 2:
		for y := 0; y < t.rows; y++ {
			t.erase(y, 0, t.cols, selective)
		}
	case 3:
		if t.scr == &t.main {
			t.history.clear()
		}
	}
}

// eraseLine is EL and DECSEL.
func (t *Terminal) eraseLine(mode int, selective bool) {
	t.wrapPending = t.wrapPending && mode > 2
	switch mode {
	case 0:
		t.erase(t.y, t.x, t.cols, selective)
	case 1:
		t.erase(t.y, 0, t.x+1, selective)
	case 2:
		t.erase(t.y, 0, t.cols, selective)
	}
}

func (t *Terminal) insertCells(n int) {
	t.wrapPending, t.joinable = false, false
	t.shifts++
	r := t.row(t.y)
	r.insert(t.x, n, t.cols, t.blank())
	r.wrapped = false
}

func (t *Terminal) deleteCells(n int) {
	t.wrapPending, t.joinable = false, false
	t.shifts++
	r := t.row(t.y)
	r.remove(t.x, n, t.cols, t.blank())
	r.wrapped = false
}

// align is DECALN.
func (t *Terminal) align() {
	t.top, t.bottom = 0, t.rows-1
	t.modes.Origin = false
	for y := range t.rows {
		r := t.row(y)
		r.reach(t.cols, t.cols)
		r.wrapped = false
		for x := range r.cells {
			r.cells[x] = cell{'E', wide1}
		}
	}
	t.moveTo(0, 0)
}

// cursorUp and cursorDown stop at the region's edge when they begin inside of it.
func (t *Terminal) cursorUp(n int) {
	limit := 0
	if t.y >= t.top {
		limit = t.top
	}
	t.moveTo(t.x, max(t.y-n, limit))
}

func (t *Terminal) cursorDown(n int) {
	limit := t.rows - 1
	if t.y <= t.bottom {
		limit = t.bottom
	}
	t.moveTo(t.x, min(t.y+n, limit))
}

// place is CUP: line and column from 1, relative to the region in origin mode.
func (t *Terminal) place(line, col int) {
	y := line - 1
	if t.modes.Origin {
		y = min(y+t.top, t.bottom)
	}
	t.moveTo(col-1, y)
}

// setRegion is DECSTBM.
func (t *Terminal) setRegion(top, bottom int) {
	bottom = min(bottom, t.rows)
	if top >= bottom {
		return
	}
	t.top, t.bottom = top-1, bottom-1
	t.place(1, 1)
}

func (t *Terminal) saveCursor() {
	t.scr.saved = savedCursor{
		x: t.x, y: t.y, pen: t.pen, charsets: t.charsets, origin: t.modes.Origin,
		wrapPending: t.wrapPending, set: true,
	}
	t.scr.saved.charsets.single = 0
}

func (t *Terminal) restoreCursor() {
	s := t.scr.saved
	t.setPen(s.pen)
	t.charsets = s.charsets
	t.modes.Origin = s.origin
	t.moveTo(s.x, s.y)
	t.wrapPending = s.wrapPending && t.x == t.cols-1 && t.modes.AutoWrap
}
