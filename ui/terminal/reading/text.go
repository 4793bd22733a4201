// Package reading is scroll mode: a terminal's text, standing still, with a cursor that moves through all of it, a
// search, and a selection.
//
// It works on a copy of the terminal, so that nothing moves while output arrives, and neither a motion nor a search
// holds the terminal up. The copy is of one moment, also where a program uses the whole screen. Cursor and selection
// stay with their text when the width changes. It reads cells only: what a program sent goes nowhere else.
package reading

import (
	"sync"

	"orchestrator/agent/vterm"
)

// Text is a terminal's text being read. Only one goroutine may call its methods, except View.
type Text struct {
	mu   sync.Mutex // held by View, and while the terminal is resized
	term *vterm.Terminal

	rows int // of the window
	top  uint64
	at   vterm.Point
	want int // the column that up and down keep

	count  int // typed before a motion
	anchor vterm.Point
	kind   Kind
	find   search

	line line // the one that was read last
}

// line is a line of the terminal.
type line struct {
	n       uint64
	known   bool
	cells   []vterm.Cell // without trailing blanks
	wrapped bool
}

// endOfLine is the column that up and down keep after a motion to the end of a line.
const endOfLine = vterm.MaxCols + 1

// New returns the text of a terminal, which belongs to it from now on, scrolled back by lines. The cursor stands where
// the program's does, or in the window's last line if that is not visible.
func New(t *vterm.Terminal, back int) *Text {
	_, rows := t.Size()
	r := &Text{term: t, rows: rows}
	screen := r.screen()
	r.top = screen - min(uint64(max(back, 0)), screen-r.first())
	c := t.Cursor()
	at := vterm.Point{Line: screen + uint64(c.Y), X: c.X}
	if at.Line >= r.top+uint64(rows) {
		at = vterm.Point{Line: r.top + uint64(rows) - 1}
	}
	r.move(at)
	return r
}

// View implements paint.Source.
func (r *Text) View(f func(*vterm.Terminal)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r.term)
}

// Resize wraps the text at another width. The cursor's line stays where it is in the window, as far as that goes.
func (r *Text) Resize(cols, rows int) {
	at, anchor := r.term.PlaceOf(r.at), r.term.PlaceOf(r.anchor)
	above := r.at.Line - r.top
	r.mu.Lock()
	r.term.Resize(cols, rows)
	r.mu.Unlock()
	r.rows, r.line.known = rows, false
	r.at, r.anchor = r.term.PointOf(at), r.term.PointOf(anchor)
	r.top = max(r.first(), r.at.Line-min(above, r.at.Line, uint64(rows-1)))
	r.find.again(r.term)
	r.move(r.at)
}

// first, screen and last are the numbers of the oldest line, of the first one of the screen, and of the last one with
// text or the program's cursor.
func (r *Text) first() uint64  { return r.term.FirstLine() }
func (r *Text) screen() uint64 { return r.first() + uint64(r.term.History()) }

func (r *Text) last() uint64 {
	_, rows := r.term.Size()
	n, cursor := r.screen()+uint64(rows)-1, r.screen()+uint64(r.term.Cursor().Y)
	for n > cursor && len(r.read(n).cells) == 0 {
		n--
	}
	return n
}

// read returns a line, which is valid until the next one is read.
func (r *Text) read(n uint64) *line {
	l := &r.line
	if l.known && l.n == n {
		return l
	}
	l.n, l.known = n, true
	l.cells, l.wrapped = r.term.Line(l.cells[:0], n)
	for k := len(l.cells); k > 0 && blank(&l.cells[k-1]) && !l.wrapped; k-- {
		l.cells = l.cells[:k-1]
	}
	return l
}

func blank(c *vterm.Cell) bool { return c.Cluster == "" && c.Rune == ' ' && c.Width != 0 }

// end returns the column of a line's last character.
func (r *Text) end(n uint64) int {
	l := r.read(n)
	x := max(len(l.cells)-1, 0)
	if x > 0 && x < len(l.cells) && l.cells[x].Width == 0 {
		x--
	}
	return x
}

// move moves the cursor and the column that it keeps, and the window so that the cursor is in it.
func (r *Text) move(to vterm.Point) {
	r.want = to.X
	r.goTo(to)
}

// goTo moves the cursor to what is closest to a point.
func (r *Text) goTo(to vterm.Point) {
	cols, rows := r.term.Size()
	to.Line = min(max(to.Line, r.first()), r.screen()+uint64(rows)-1)
	limit := cols - 1
	if r.kind != Block {
		limit = r.end(to.Line)
	}
	to.X = min(max(to.X, 0), limit)
	if cells := r.read(to.Line).cells; to.X > 0 && to.X < len(cells) && cells[to.X].Width == 0 {
		to.X-- // the right half of a wide character
	}
	r.at = to
	r.reveal(0)
}

// reveal scrolls so that the cursor is in the window, with some lines around it if it was not.
func (r *Text) reveal(around uint64) {
	height := uint64(max(r.rows, 1))
	around = min(around, (height-1)/2)
	switch {
	case r.at.Line < r.top:
		r.top = r.at.Line - min(around, r.at.Line-r.first())
	case r.at.Line >= r.top+height:
		r.top = r.at.Line + around + 1 - height
	}
	r.top = min(max(r.top, r.first()), r.screen())
}

// Scroll moves the window by lines, up if negative, and the cursor with it if it would leave the window.
func (r *Text) Scroll(lines int) {
	top := int64(r.top) + int64(lines)
	r.top = uint64(min(max(top, int64(r.first())), int64(r.screen())))
	at := r.at
	at.Line = min(max(at.Line, r.top), r.top+uint64(max(r.rows, 1))-1)
	at.X = r.want
	r.goTo(at)
}

// Window returns the number of the first visible line.
func (r *Text) Window() uint64 { return r.top }

// At returns where the cursor is.
func (r *Text) At() vterm.Point { return r.at }

// Back returns how many lines the window is above the end.
func (r *Text) Back() int { return int(r.screen() - r.top) }

// Position returns the number of the cursor's line, from 1, and of how many.
func (r *Text) Position() (line, of int) {
	line = int(r.at.Line-r.first()) + 1
	return line, max(line, int(r.last()-r.first())+1)
}
