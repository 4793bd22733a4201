package graph

import "orchestrator/ui/layout"

const (
	leastColumn, mostColumn = 27, 72
	gapWidth                = 6
	leastLines, mostLines   = 3, 6 // of a node, where there is room
)

// frame is how the columns in sight stand.
type frame struct {
	from, n int // the first one, and how many
	w       int // the width of each
	rows    int // of nodes in sight
	lines   int // of each node
	pitch   int // from one to the next
}

// frameOf lays the columns out in a box.
func (g *Graph) frameOf(b layout.Box) frame {
	f := frame{n: min(len(g.waves), max((b.W+gapWidth)/(leastColumn+gapWidth), 1))}
	f.w = min((b.W-gapWidth*(f.n-1))/f.n, mostColumn)
	g.left = window(g.left, g.on.col, len(g.waves), f.n)
	f.from = g.left
	tallest := 0
	for _, c := range g.waves[f.from : f.from+f.n] {
		tallest = max(tallest, len(c.nodes))
	}
	switch h := b.H - 1; {
	case tallest*(leastLines+1)-1 <= h:
		f.lines = min((h+1)/max(tallest, 1)-1, mostLines)
		f.pitch = f.lines + 1
	case tallest*leastLines <= h:
		f.lines, f.pitch = leastLines, leastLines
	case tallest*2 <= h:
		f.lines, f.pitch = 2, 2
	default:
		f.lines, f.pitch = 1, 1
	}
	f.rows = (b.H - 1 + f.pitch - f.lines) / f.pitch
	if f.rows < tallest {
		f.rows = max(f.rows-1, 1) // the last line says what is not in sight
	}
	return f
}

// window returns the first of the lines in sight, so that one of them is.
func window(top, on, total, rows int) int {
	if on < top {
		top = on
	}
	if on >= top+rows {
		top = on - rows + 1
	}
	return max(min(top, total-rows), 0)
}
