// Package list is the window through which a list is seen: which of its items show, and which one is under
// the cursor. It knows nothing of what the items are and draws nothing.
//
// After Fit the item under the cursor shows, whole where the window is high enough, and no row of the window
// is left empty while items above it are hidden. Whatever moves the cursor, it stays in the list.
package list

import (
	"iter"

	"orchestrator/ui/intent"
)

// Window is a position in a list. The zero value is at the beginning of an empty one.
type Window struct {
	// Free has no cursor to be kept in sight: moves scroll the rows themselves.
	Free bool

	n, rows int   // items, and rows of the window, when it was fitted last
	heights []int // how many rows each item took then; nil is one each
	top, at int   // the first item that shows, and the one under the cursor
}

// Fit takes the number of items and of the window's rows, and how many rows each item takes; nil is one each.
// It is to be called before what shows is asked for, and whenever one of the three has changed.
func (w *Window) Fit(n, rows int, height func(int) int) {
	w.n, w.rows, w.heights = max(n, 0), max(rows, 0), w.heights[:0]
	for i := 0; height != nil && i < n; i++ {
		w.heights = append(w.heights, max(height(i), 1))
	}
	w.settle()
}

// settle keeps the position in the list, the window full and the cursor in it.
func (w *Window) settle() {
	w.at = max(min(w.at, w.n-1), 0)
	w.top = max(min(w.top, w.back(w.n-1)), 0) // with that one at the top the window is full to the end
	if w.Free {
		w.at = max(w.at, w.top)
		return
	}
	w.top = max(min(w.top, w.at), w.back(w.at))
}

// back returns the first item of those that fit in the window with this one as the last; itself at least.
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

// Len is the number of items.
func (w *Window) Len() int { return w.n }

// Rows is the number of rows.
func (w *Window) Rows() int { return w.rows }

// At is the item under the cursor; the first one that shows, or the one gone to, where the window is free.
func (w *Window) At() int { return w.at }

// Go moves the cursor to an item. A free window shows it with some of what is before it.
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

// page is how many items a page is: what shows, but for one to find the way by.
func (w *Window) page() int {
	shown := 0
	for range w.Items() {
		shown++
	}
	return max(shown-1, 1)
}

// Handle moves by an action and reports whether it was one that moves.
func (w *Window) Handle(a intent.Action) bool {
	n, moves := w.Steps(a)
	if moves {
		w.Move(n)
	}
	return moves
}

// Items yields the items that show, each with the row where it begins. The last one may be cut.
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

// Hit returns the item that shows in a row, and whether there is one.
func (w *Window) Hit(row int) (int, bool) {
	for i, from := range w.Items() {
		if row >= from && row < from+w.tall(i) {
			return i, row < w.rows
		}
	}
	return 0, false
}

// Above is how many items are hidden before those that show.
func (w *Window) Above() int { return w.top }

// Below is how many items are hidden behind those that show.
func (w *Window) Below() int {
	shown := 0
	for range w.Items() {
		shown++
	}
	return max(w.n-w.top-shown, 0)
}

// Thumb returns the row in which the thumb of a scroll bar is, and whether there is more than shows.
func (w *Window) Thumb() (int, bool) {
	last := w.back(w.n - 1)
	if last <= 0 || w.rows < 2 {
		return 0, false
	}
	return min(w.top*(w.rows-1)/last, w.rows-1), true
}
