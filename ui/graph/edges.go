package graph

import (
	"fmt"
	"slices"

	"orchestrator/ui/layout"
	"orchestrator/ui/theme"
)

// track is a line down a gap: all of its upstreams at the left lead to all of its nodes at the right.
type track struct {
	from, to []int // rows of the gap
	heavy    bool  // the longest chain goes along it
	up, down []int // rows of the nodes of that
}

// arms are the directions in which a line leaves a cell.
type arms uint8

const (
	north arms = 1 << iota
	south
	west
	east
)

// lines are what a cell with some arms looks like.
var lines = [16]string{
	north: "│", south: "│", north | south: "│", west: "─", east: "─", west | east: "─",
	north | west: "┘", north | east: "└", south | west: "┐", south | east: "┌",
	north | south | west: "┤", north | south | east: "├", north | west | east: "┴", south | west | east: "┬",
	north | south | west | east: "┼",
}

// edges draws those between a column in sight and the one before it into the gap, where each of them can be told from the
// others, and returns the rows of the nodes to which all of them are drawn.
func (g *Graph) edges(c *layout.Canvas, b layout.Box, th *theme.Theme, f frame, k int) map[int]bool {
	if k == 0 {
		return nil
	}
	left, right := f.from+k-1, f.from+k
	if len(g.waves[left].nodes) > f.rows || len(g.waves[right].nodes) > f.rows {
		return nil // not all are in sight
	}
	tracks, drawn := told(g.tracks(left, right, f.pitch)), map[int]bool{}
	for _, t := range tracks {
		for _, y := range t.to {
			drawn[y/f.pitch] = true
		}
	}
	cells := make([]arms, b.W*b.H)
	heavy := make([]bool, b.W*b.H)
	set := func(x, y int, a arms, strong bool) {
		if x >= 0 && x < b.W && y >= 0 && y < b.H {
			cells[y*b.W+x] |= a
			heavy[y*b.W+x] = heavy[y*b.W+x] || strong
		}
	}
	for i, t := range tracks {
		x := b.W - 3 - (len(tracks) - 1 - i)
		all := slices.Concat(t.from, t.to)
		for y := slices.Min(all); y < slices.Max(all); y++ {
			strong := t.heavy && between(y, t.up, t.down)
			set(x, y, south, strong)
			set(x, y+1, north, strong)
		}
		for _, y := range t.from {
			t.reach(set, y, 1, x, t.heavy && slices.Contains(t.up, y))
		}
		for _, y := range t.to {
			t.reach(set, y, x, b.W-1, t.heavy && slices.Contains(t.down, y))
		}
	}
	for i, a := range cells {
		char, tok := lines[a], theme.Border
		if heavy[i] {
			tok = theme.Text
			switch a {
			case west | east, west, east:
				char = "━"
			case north | south, north, south:
				char = "┃"
			}
		}
		if char != "" {
			c.Print(b, i%b.W, i/b.W, th.Style(tok), char)
		}
	}
	return drawn
}

// reach draws a row from one column of the gap to another.
func (t track) reach(set func(x, y int, a arms, strong bool), y, from, to int, strong bool) {
	for x := from; x < to; x++ {
		set(x, y, east, strong)
		set(x+1, y, west, strong)
	}
}

// between reports whether a line from y to the next row is on the way from one of some rows to one of others.
func between(y int, up, down []int) bool {
	for _, a := range up {
		for _, b := range down {
			if min(a, b) <= y && y < max(a, b) {
				return true
			}
		}
	}
	return false
}

// tracks returns the lines between two columns: one for all nodes with the same upstreams in the left one.
func (g *Graph) tracks(left, right, pitch int) []track {
	var all []track
	at := map[string]int{}
	for row, i := range g.waves[right].nodes {
		n := &g.view.Nodes[i]
		var from []int
		heavy := -1
		for _, name := range n.Upstreams() {
			if p, known := g.at[name]; known && p.col == left {
				from = append(from, p.row*pitch)
				if n.Critical && g.node(p).Critical {
					heavy = p.row * pitch
				}
			}
		}
		if len(from) == 0 {
			continue
		}
		slices.Sort(from)
		key := fmt.Sprint(from)
		k, known := at[key]
		if !known {
			k = len(all)
			at[key], all = k, append(all, track{from: from})
		}
		t := &all[k]
		t.to = append(t.to, row*pitch)
		if heavy >= 0 {
			t.heavy, t.up, t.down = true, append(t.up, heavy), append(t.down, row*pitch)
		}
	}
	return all
}

// mostTracks is how many lines there is room for in a gap.
const mostTracks = gapWidth - 3

// told returns those of the tracks that can be drawn side by side so that one can tell who reads whom.
func told(all []track) (some []track) {
	for _, t := range all {
		if len(some) < mostTracks && !slices.ContainsFunc(some, func(u track) bool { return crossed(u, t) }) {
			some = append(some, t)
		}
	}
	return some
}

// crossed reports whether the lines of two tracks, the first of which stands at the left, would share a cell.
func crossed(a, b track) bool {
	within := func(t track) func(int) bool {
		all := slices.Concat(t.from, t.to)
		return func(y int) bool { return slices.Min(all) <= y && y <= slices.Max(all) }
	}
	return slices.ContainsFunc(b.from, within(a)) || slices.ContainsFunc(a.to, within(b))
}
