package tree

import "orchestrator/thread"

const (
	// roomForTwo is the height of a list, in rows, from which on each of its threads takes two, and groups stand apart.
	roomForTwo = 19
	// roomForQuestions is the height from which on threads that wait take two rows, for what they ask.
	roomForQuestions = 10
)

// fit scrolls to the selection in the size that the list has. It reports whether there is more than fits: then the last
// row is kept free for how much.
func (t *Tree) fit() (more bool) {
	t.fitted = true
	t.scroll(t.h)
	if t.win.Above()+t.win.Below() == 0 {
		return false
	}
	t.scroll(t.h - 1)
	return true
}

// scroll scrolls to the selection in a window of some rows.
func (t *Tree) scroll(rows int) {
	t.win.Fit(len(t.lines), rows, t.height)
	if len(t.rows) == 0 {
		return
	}
	at := t.at[t.index[t.selected]]
	if at > 0 && t.lines[at-1].row < 0 {
		t.win.Go(at - 1) // with its title
	}
	t.win.Go(at)
}

// twoRows reports whether threads take two rows.
func (t *Tree) twoRows() bool {
	return t.density == twoRows || t.density == bySize && t.h >= roomForTwo
}

// height returns how many rows a line takes.
func (t *Tree) height(i int) int {
	l := t.lines[i]
	switch {
	case l.row < 0 && i > 0 && t.h >= roomForTwo:
		return 2
	case l.row < 0:
		return 1
	}
	switch g := t.groupOf(t.rows[l.row].ID); {
	case g == thread.GroupQuiet || t.density == oneRow:
		return 1
	case t.twoRows():
		return 2
	case g == thread.GroupNeedsYou && t.density == bySize && t.h >= roomForQuestions:
		return 2
	default:
		return 1
	}
}
