// Package list is the scrolling window of a list: which of its items are visible, and which one is under the cursor. It
// does not know what the items are, and draws nothing.
//
// After Fit the item under the cursor is visible, completely if the window is high enough, and no row of the window is
// empty while items above it are hidden. The cursor always stays in the list.
package list

import (
	"iter"

	"orchestrator/ui/intent"
)

// Window is a position in a list. The zero value is at the start of an empty list.
type Window struct {
	// Free means that there is no cursor to keep visible: moves scroll the rows.
	Free bool

	n, rows int   // number of items, and rows of the window, at the last Fit
	heights []int // rows of each item then; nil means one each
	top, at int   // the first visible item, and the one under the cursor
}

// Fit sets the number of items, the number of rows of the window, and the rows of each item; nil means one each. Call
// it before asking for visible items, and whenever one of the three has changed.
func (w *Window) Fit(n, rows int, height func(int) int) {
	w.n, w.rows, w.heights = max(n, 0), max(rows, 0), w.heights[:0]
	for i := 0; height != nil && i < n; i++ {
		w.heights = append(w.heights, max(height(i), 1))
	}
	w.settle()
}

// settle keeps the position inside the list, the window full and the cursor visible.
func (w *Window) settle() {
	w.at = max(min(w.at, w.n-1), 0)
	w.top = max(min(w.top, w.back(w.n-1)), 0) // from that item on, the rest fills the window
	if w.Free {
		w.at = max(w.at, w.top)
		return
	}
	w.top = max(min(w.top, w.at), w.back(w.at))
}

// back returns the first of the items that fit into the window with this one as the last, or this one.
func (w *Window) back(last int) int {
	room := w.rows
	for i := min(last, w.n-1); i >= 0; i-- {
		if room -= w.tall(i); room < 0 {
			return min(i+1, last)
		}
	}
	return 0
}

func (w *Window) tall(i int) int {
	if len(w.heights) == 0 {
		return 1
	}
	return w.heights[i]
}

// Len returns the number of items.
func (w *Window) Len() int { return w.n }

// Rows returns the number of rows.
func (w *Window) Rows() int { return w.rows }

// At returns the item under the cursor or, in a free window, the first visible one or the one gone to.
func (w *Window) At() int { return w.at }

// Go moves the cursor to an item. A free window shows it with some context before it.
func (w *Window) Go(i int) {
	w.at = i
	if w.Free {
		w.top = i - w.rows/3
	}
	w.settle()
}

// Move moves the cursor by n items, or a free window by n rows.
func (w *Window) Move(n int) {
	if !w.Free {
		w.Go(w.at + n)
		return
	}
	w.top += n
	w.at = 0
	w.settle()
}

// Steps returns by how many items an action moves, and whether it is one that moves.
func (w *Window) Steps(a intent.Action) (int, bool) {
	switch a {
	case intent.Up:
		return -1, true
	case intent.Down:
		return 1, true
	case intent.PageUp:
		return -w.page(), true
	case intent.PageDown:
		return w.page(), true
	case intent.First:
		return -w.n, true
	case intent.Last:
		return w.n, true
	default:
		return 0, false
	}
}

// page returns the number of items of a page: the visible ones, minus one for orientation.
func (w *Window) page() int {
	shown := 0
	for range w.Items() {
		shown++
	}
	return max(shown-1, 1)
}

// Handle handles an action and reports whether it was one that moves.
func (w *Window) Handle(a intent.Action) bool {
	n, moves := w.Steps(a)
	if moves {
		w.Move(n)
	}
	return moves
}

// Items yields the visible items, each with the row where it starts. The last one may be cut off.
func (w *Window) Items() iter.Seq2[int, int] {
	return func(yield func(item, row int) bool) {
		row := 0
		for i := w.top; i < w.n && row < w.rows; i++ {
			if !yield(i, row) {
				return
			}
			row += w.tall(i)
		}
	}
}

// Hit returns the item in a row, and whether there is one.
func (w *Window) Hit(row int) (int, bool) {
	for i, from := range w.Items() {
		if row >= from && row < from+w.tall(i) {
			return i, row < w.rows
		}
	}
	return 0, false
}

// Above returns how many items are hidden above the window.
func (w *Window) Above() int { return w.top }

// Below returns how many items are hidden below the window.
func (w *Window) Below() int {
	shown := 0
	for range w.Items() {
		shown++
	}
	return max(w.n-w.top-shown, 0)
}

// Thumb returns the row of the scroll bar's thumb, and whether a scroll bar is needed.
func (w *Window) Thumb() (int, bool) {
	last := w.back(w.n - 1)
	if last <= 0 || w.rows < 2 {
		return 0, false
	}
	return min(w.top*(w.rows-1)/last, w.rows-1), true
}
