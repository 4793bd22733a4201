package vterm

// cell is one position of the grid in 8 bytes. ch is a code point, or clusterBit and the index of a
// cluster of several; attr holds the style id in 24 bits and the width (0 for the right half of a wide
// character, 1, 2) above it. Blank is a space, never 0.
type cell struct {
	ch   uint32
	attr uint32
}

const (
	clusterBit = 1 << 31
	styleMask  = 1<<24 - 1
	widthShift = 24
	wide1      = 1 << widthShift
	wide2      = 2 << widthShift
)

func (c cell) style() uint32 { return c.attr & styleMask }
func (c cell) width() int    { return int(c.attr >> widthShift) }

func blankCell(style uint32) cell { return cell{' ', style | wide1} }

// maxCluster caps the bytes of one cell's text; further marks are dropped.
const maxCluster = 96

// row is one line of a screen. Cells at and after used are blank in the default style whatever the slice
// holds; the slice is empty until something is written. Screens move rows by pointer.
type row struct {
	cells   []cell
	used    int
	gen     uint64 // generation of the last change
	id      uint32 // distinguishes rows that change in one generation
	wrapped bool   // the text continues in the next row
}

// at reads a cell anywhere in the row.
func (r *row) at(x int) cell {
	if x < 0 || x >= r.used {
		return blankCell(0)
	}
	return r.cells[x]
}

// reach makes cells 0..n-1 real, so that they can be written.
func (r *row) reach(n, cols int) {
	if len(r.cells) < cols {
		cells := make([]cell, cols)
		copy(cells, r.cells[:min(r.used, len(r.cells))])
		r.cells = cells
	}
	for i := r.used; i < n; i++ {
		r.cells[i] = blankCell(0)
	}
	if n > r.used {
		r.used = n
	}
}

// split makes x a boundary between characters: a wide character across it becomes two blanks.
func (r *row) split(x int) {
	if x <= 0 || x >= r.used || r.cells[x].width() != 0 {
		return
	}
	r.cells[x] = blankCell(r.cells[x].style())
	r.cells[x-1] = blankCell(r.cells[x-1].style())
}

// fill blanks cells a..b-1 in the given style.
func (r *row) fill(a, b, cols int, style uint32) {
	if a >= b {
		return
	}
	r.split(a)
	r.split(b)
	if style == 0 {
		if b >= r.used {
			r.used = min(r.used, a)
			return
		}
		for i := a; i < b; i++ {
			r.cells[i] = blankCell(0)
		}
		return
	}
	r.reach(b, cols)
	for i := a; i < b; i++ {
		r.cells[i] = blankCell(style)
	}
}

// insert shifts cells from x on right by n and blanks the gap.
func (r *row) insert(x, n, cols int, style uint32) {
	n = min(n, cols-x)
	if x < r.used {
		r.split(x)
		end := min(r.used+n, cols)
		r.split(cols - n)
		r.reach(end, cols)
		copy(r.cells[x+n:end], r.cells[x:end-n])
		r.fill(x, x+n, cols, 0)
	}
	if style != 0 {
		r.fill(x, x+n, cols, style)
	}
}

// remove deletes n cells at x; blanks come in at the right.
func (r *row) remove(x, n, cols int, style uint32) {
	n = min(n, cols-x)
	r.split(x)
	r.split(x + n)
	if x < r.used {
		if x+n < r.used {
			copy(r.cells[x:], r.cells[x+n:r.used])
			r.used -= n
		} else {
			r.used = x
		}
	}
	if style != 0 {
		r.fill(cols-n, cols, cols, style)
	}
}
