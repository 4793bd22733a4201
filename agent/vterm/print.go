package vterm

import "unicode/utf8"

// wrap moves to the start of the next line because the text continues there.
func (t *Terminal) wrap() {
	t.row(t.y).wrapped = true
	t.x, t.wrapPending = 0, false
	t.index()
}

// printASCII prints a run of bytes 0x20–0x7e.
func (t *Terminal) printASCII(b []byte) {
	if t.modes.Insert || !t.charsets.plain() {
		for _, c := range b {
			t.printRune(rune(c))
		}
		return
	}
	attr := t.style() | wide1
	for len(b) > 0 {
		if t.wrapPending {
			t.wrap()
		}
		n := min(len(b), t.cols-t.x)
		r := t.row(t.y)
		end := t.x + n
		if t.x < r.used {
			r.split(t.x)
			r.split(end)
		}
		r.reach(end, t.cols)
		cells := r.cells[t.x:end]
		for i, c := range b[:n] {
			cells[i] = cell{uint32(c), attr}
		}
		t.lastCh, t.lastWidth = uint32(b[n-1]), 1
		t.joinX, t.joinY, t.joinable = end-1, t.y, true
		b = b[n:]
		t.x = end
		if t.x == t.cols {
			t.x--
			if t.modes.AutoWrap {
				t.wrapPending = true
			} else if len(b) > 1 {
				b = b[len(b)-1:]
			}
		}
	}
}

// printRune prints one code point of text.
func (t *Terminal) printRune(r rune) {
	if r < 0x80 || t.charsets.single != 0 {
		r = t.charsets.translate(r)
	}
	if r < 0xa0 && r >= 0x7f {
		return
	}
	extends := mayExtend(r)
	if t.joinable && (extends || t.lastInvites()) && t.join(r) {
		return
	}
	w := runeWidth(r)
	if w == 0 {
		if extends {
			t.attach(r)
		}
		return
	}
	t.put(uint32(r), w)
}

func (t *Terminal) lastInvites() bool {
	return t.lastCh&clusterBit != 0 || invites(rune(t.lastCh))
}

// join adds a code point to the character printed last, if both are one grapheme.
func (t *Terminal) join(r rune) bool {
	row := t.scr.rows[t.joinY]
	c := row.at(t.joinX)
	if t.joinX >= row.used || c.ch != t.lastCh || c.width() == 0 {
		return false
	}
	if !t.modes.Graphemes && (r == 0x200d || r >= 0xfe00 && r <= 0xfe0f) {
		return true // legacy: joiners and selectors change nothing
	}
	text := t.appendText(t.joinBuf[:0], c.ch)
	base := len(text)
	text = utf8.AppendRune(text, r)
	w, ok := oneCluster(text)
	if !ok || !t.modes.Graphemes && runeWidth(r) > 0 {
		return false
	}
	if len(text) > maxCluster {
		return true
	}
	switch old := text[:base]; {
	case r == 0xfe0e && emojiBase(old):
		w = 1 // shown as text
	case w < c.width(), r == 0xfe0f && !emojiBase(old):
		w = c.width()
	}
	t.recluster(t.joinX, t.joinY, text, w)
	return true
}

// recluster replaces the last printed character with a new text and perhaps a new width.
func (t *Terminal) recluster(x, y int, text []byte, w int) {
	r := t.row(y)
	c := r.cells[x]
	ch := t.clusterID(text) | clusterBit
	t.lastCh = ch
	if w == c.width() {
		r.cells[x].ch = ch
		return
	}
	style := c.style()
	if w < c.width() { // a text presentation selector narrows
		r.cells[x] = cell{ch, style | wide1}
		r.cells[x+1] = blankCell(style)
		t.lastWidth = 1
		t.x, t.wrapPending = x+1, false
		return
	}
	if x+2 > t.cols && (!t.modes.AutoWrap || t.cols < 2) {
		r.cells[x].ch = ch // no room: it stays narrow
		return
	}
	pen, id, blank, ok := t.pen, t.penID, t.blankID, t.penOK
	r.fill(x, x+1, t.cols, 0)
	t.x, t.y, t.wrapPending = x, y, false
	t.pen, t.penID, t.penOK = t.styles.vals[style], style, true
	insert := t.modes.Insert
	t.modes.Insert = false
	t.put(ch, w)
	t.modes.Insert = insert
	t.pen, t.penID, t.blankID, t.penOK = pen, id, blank, ok
}

// attach puts a mark on the character left of the cursor, where the cursor was moved to.
func (t *Terminal) attach(r rune) {
	x := t.x - 1
	if t.wrapPending {
		x = t.x
	}
	row := t.scr.rows[t.y]
	if x > 0 && row.at(x).width() == 0 {
		x--
	}
	if x < 0 || x >= row.used {
		return
	}
	text := utf8.AppendRune(t.appendText(nil, row.cells[x].ch), r)
	if len(text) > maxCluster {
		return
	}
	row.gen = t.gen
	row.cells[x].ch = t.clusterID(text) | clusterBit
}

// put prints one character of known width at the cursor.
func (t *Terminal) put(ch uint32, w int) {
	if w > t.cols {
		return
	}
	if t.wrapPending {
		t.wrap()
	}
	if t.x+w > t.cols {
		if t.modes.AutoWrap {
			t.row(t.y).fill(t.x, t.cols, t.cols, 0)
			t.wrap()
		} else {
			return // half of it cannot be shown, and there is no next line for it
		}
	}
	r := t.row(t.y)
	style := t.style()
	if t.modes.Insert {
		t.shifts++
		r.insert(t.x, w, t.cols, 0)
	}
	end := t.x + w
	if t.x < r.used {
		r.split(t.x)
		r.split(end)
	}
	r.reach(end, t.cols)
	if w == 2 {
		r.cells[t.x] = cell{ch, style | wide2}
		r.cells[t.x+1] = cell{' ', style}
	} else {
		r.cells[t.x] = cell{ch, style | wide1}
	}
	t.lastCh, t.lastWidth = ch, w
	t.joinX, t.joinY, t.joinable = t.x, t.y, true
	t.x = end
	if t.x >= t.cols {
		t.x = t.cols - 1
		t.wrapPending = t.modes.AutoWrap
	}
}

// repeat is REP. It fills at most the screen, or two lines with a character that is not ASCII.
func (t *Terminal) repeat(n int) {
	ch := t.lastCh
	if ch == 0 {
		return
	}
	if ch >= 0x7f || t.modes.Insert || !t.charsets.plain() {
		for n = min(n, 2*t.cols); n > 0; n-- {
			t.put(ch, t.lastWidth)
		}
		return
	}
	var run [256]byte
	for i := range run {
		run[i] = byte(ch)
	}
	for n = min(n, t.cols*t.rows); n > 0; {
		k := min(n, len(run))
		t.printASCII(run[:k])
		n -= k
	}
}
