// Package layout contains the arithmetic of boxes and the canvas that panels draw on.
//
// A panel gets a box and cannot draw outside it: every call of the canvas is clipped to its box. The canvas has cells,
// not strings with escape sequences, so overlays are simply drawn on top. It does not sanitise text: what comes from
// outside goes through package plain.
package layout

// Box is a rectangle of cells on the screen.
type Box struct{ X, Y, W, H int }

// Point is a cell of the screen.
type Point struct{ X, Y int }

// Empty reports whether the box has no cells.
func (b Box) Empty() bool { return b.W <= 0 || b.H <= 0 }

// Contains reports whether a cell is inside the box.
func (b Box) Contains(x, y int) bool {
	return x >= b.X && x < b.X+b.W && y >= b.Y && y < b.Y+b.H
}

// Inset returns the box reduced by n cells on each side.
func (b Box) Inset(n int) Box { return b.Shrink(n, n) }

// Shrink returns the box reduced by dx columns left and right and dy rows above and below.
func (b Box) Shrink(dx, dy int) Box {
	return Box{b.X + dx, b.Y + dy, max(b.W-2*dx, 0), max(b.H-2*dy, 0)}
}

// Left splits off n columns on the left.
func (b Box) Left(n int) (left, rest Box) {
	n = min(max(n, 0), b.W)
	return Box{b.X, b.Y, n, b.H}, Box{b.X + n, b.Y, b.W - n, b.H}
}

// Top splits off n rows at the top.
func (b Box) Top(n int) (top, rest Box) {
	n = min(max(n, 0), b.H)
	return Box{b.X, b.Y, b.W, n}, Box{b.X, b.Y + n, b.W, b.H - n}
}

// Bottom splits off n rows at the bottom.
func (b Box) Bottom(n int) (rest, bottom Box) {
	n = min(max(n, 0), b.H)
	return Box{b.X, b.Y, b.W, b.H - n}, Box{b.X, b.Y + b.H - n, b.W, n}
}

// Row returns the n-th row of the box.
func (b Box) Row(n int) Box {
	if n < 0 || n >= b.H {
		return Box{b.X, b.Y + n, 0, 0}
	}
	return Box{b.X, b.Y + n, b.W, 1}
}

// Columns returns the part of the box in the columns of another one.
func (b Box) Columns(o Box) Box { return b.clip(Box{o.X, b.Y, o.W, b.H}) }

// Center returns a box of at most w by h in the middle of the box.
func (b Box) Center(w, h int) Box {
	w, h = min(w, b.W), min(h, b.H)
	return Box{b.X + (b.W-w)/2, b.Y + (b.H-h)/2, w, h}
}

// clip returns the intersection of two boxes.
func (b Box) clip(o Box) Box {
	x, y := max(b.X, o.X), max(b.Y, o.Y)
	return Box{x, y, max(min(b.X+b.W, o.X+o.W)-x, 0), max(min(b.Y+b.H, o.Y+o.H)-y, 0)}
}

// Overlaps reports whether the boxes have a cell in common.
func (b Box) Overlaps(o Box) bool { return !b.clip(o).Empty() }
