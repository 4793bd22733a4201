package frame

import "orchestrator/ui/layout"

// Layout is how threads share the pane.
type Layout int

// The layouts. On a screen that is too small for one, Stack is shown instead.
const (
	Single  Layout = iota // the selected thread
	Stack                 // below it title bars of others
	Columns               // two threads beside each other
	Wall                  // four, two by two
	layouts
)

// String names a layout.
func (l Layout) String() string { return [...]string{"single", "stack", "two columns", "wall"}[l] }

// Parts is how many threads have a terminal.
func (l Layout) Parts() int {
	switch l {
	case Columns:
		return 2
	case Wall:
		return 4
	default:
		return 1
	}
}

// Fits reports whether a screen has room for a layout.
func (l Layout) Fits(w, h int) bool {
	switch l {
	case Columns:
		return w >= TwoColumns
	case Wall:
		return w >= wallLeast && h >= sparse
	default:
		return true
	}
}

// Next returns the next layout for which a screen has room.
func (l Layout) Next(w, h int) Layout {
	for l = (l + 1) % layouts; !l.Fits(w, h); {
		l = (l + 1) % layouts
	}
	return l
}

const (
	// TwoColumns is the width of the screen from which two terminals stand beside each other and the list.
	TwoColumns = 160
	// wallLeast is the width from which two terminals stand beside each other without the list.
	wallLeast = 100
	// sparse is the height from which the facts below the list take more than two rows, and from which two terminals stand
	// above each other.
	sparse = 24
	// stackMost is how many title bars there are at most: how many there are depends on the height of the screen only, so
	// that the terminal above them keeps its size.
	stackMost = 4
)

// stackRows is how many title bars a screen of a height has.
func stackRows(h int) int { return min(stackMost, max(h-18, 1)) }

// Part is the place of one of several terminals.
type Part struct {
	Box   layout.Box // all of it
	Title layout.Box
	Inner layout.Box // the terminal
	Rule  layout.Box // the rule above it
}

// divide divides a pane into parts. Their terminals have the same size, so that a thread can change its part without
// drawing itself anew. rule is the one above the pane.
func (l Layout) divide(pane, rule layout.Box) (parts []Part) {
	rows, below := 1, pane
	if l == Wall {
		rows = 2
	}
	w, h := (pane.W-1)/2, (pane.H+1)/rows-1
	for range rows {
		var row layout.Box
		row, below = below.Top(h)
		left, right := row.Left(w)
		_, right = right.Left(1)
		right, _ = right.Left(w)
		for i, box := range []layout.Box{left, right} {
			p := Part{Box: box, Rule: rule.Columns(box)}
			if i == 1 {
				_, p.Rule = rule.Columns(pane).Left(w + 1) // to the edge
			}
			_, in := box.Left(1)
			p.Title, p.Inner = in.Top(1)
			parts = append(parts, p)
		}
		rule, below = below.Top(1)
	}
	return parts
}
