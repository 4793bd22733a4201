// Package graph draws a task of a plan as a graph by wave: its waves side by side where there is room, else below one another,
// each agent with its state, what works, what it used, how long it takes and what it waits for.
//
// It draws what it is given, and asks nobody. What is in sight is laid out, whatever the size of the plan; states are told
// apart by marks and words, not by colours alone. Texts of agents go through package plain.
package graph

import (
	"slices"
	"time"

	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
)

// Graph is a task that is drawn. Its zero value has none.
type Graph struct {
	// Cursor is set where a node is chosen by keys.
	Cursor bool

	view  wave.View
	got   time.Time // when the view was made
	waves []column
	at    map[string]place
	on    place // of the cursor
	lines int   // of a node in a column, as drawn last
	top   int   // the first line in sight of the list, or the first row of nodes of all columns
	left  int   // the first column in sight
	spots []spot
	whole bool // what there is to say of the node under the cursor was drawn
}

// column is a wave.
type column struct {
	number int
	nodes  []int // of the view, in order, gates first
	count  [states]int
}

// place is where a node stands: its column, and the row in that.
type place struct{ col, row int }

// spot is where a node was drawn.
type spot struct {
	box layout.Box
	at  place
}

// Set replaces what is drawn by a view that was made at a time. The cursor stays on its node.
func (g *Graph) Set(v wave.View, made time.Time) {
	was, any := g.Node()
	g.view, g.got = v, made
	order := make([]int, len(v.Nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return stage(v.Nodes[a]) - stage(v.Nodes[b]) })
	g.waves = g.waves[:0]
	g.at = make(map[string]place, len(order))
	for _, i := range order {
		n := v.Nodes[i]
		if k := len(g.waves); k == 0 || g.waves[k-1].number != n.Wave {
			g.waves = append(g.waves, column{number: n.Wave})
		}
		c := &g.waves[len(g.waves)-1]
		g.at[n.Agent] = place{len(g.waves) - 1, len(c.nodes)}
		c.nodes = append(c.nodes, i)
		c.count[stateOf(n)]++
	}
	g.on = g.kept(was.Agent, any)
}

// kept is where the cursor goes in another view.
func (g *Graph) kept(name string, any bool) place {
	if p, still := g.at[name]; any && still {
		return p
	}
	if any && len(g.waves) > 0 {
		col := min(g.on.col, len(g.waves)-1)
		return place{col, min(g.on.row, len(g.waves[col].nodes)-1)}
	}
	return g.first()
}

// first is where the cursor begins: at what asks, else at what works, else at the first.
func (g *Graph) first() place {
	for _, s := range []state{asks, failed, works, stalled} {
		for c := range g.waves {
			if g.waves[c].count[s] == 0 {
				continue
			}
			for r, i := range g.waves[c].nodes {
				if stateOf(g.view.Nodes[i]) == s {
					return place{c, r}
				}
			}
		}
	}
	return place{}
}

// stage orders nodes by wave, gates before the agents of their own.
func stage(n wave.NodeView) int {
	if n.Gate {
		return 2*n.Wave - 1
	}
	return 2 * n.Wave
}

// View returns what is drawn.
func (g *Graph) View() wave.View { return g.view }

// Node returns the node under the cursor.
func (g *Graph) Node() (n wave.NodeView, ok bool) {
	if g.on.col >= len(g.waves) || g.on.row >= len(g.waves[g.on.col].nodes) {
		return n, false
	}
	return *g.node(g.on), true
}

func (g *Graph) node(p place) *wave.NodeView { return &g.view.Nodes[g.waves[p.col].nodes[p.row]] }

// Go moves the cursor to a node.
func (g *Graph) Go(name string) {
	if p, known := g.at[name]; known {
		g.on = p
	}
}

// Next moves the cursor to the next node that needs somebody, because it asks, has failed, is stalled or stale, and reports
// whether there is one.
func (g *Graph) Next() bool {
	var all []place
	next := -1
	for c := range g.waves {
		count := g.waves[c].count
		if count[asks]+count[failed]+count[stalled]+count[stale] == 0 {
			continue
		}
		for r, i := range g.waves[c].nodes {
			switch stateOf(g.view.Nodes[i]) {
			case asks, failed, stalled, stale:
				if next < 0 && (c > g.on.col || c == g.on.col && r > g.on.row) {
					next = len(all)
				}
				all = append(all, place{c, r})
			default:
			}
		}
	}
	if len(all) == 0 {
		return false
	}
	g.on = all[max(next, 0)]
	return true
}

// Handle handles an action, and reports whether it was one that moves the cursor: up and down in a wave, and over its end
// to the next where waves stand below one another; left and right from wave to wave.
func (g *Graph) Handle(a intent.Action) bool {
	const page = 10
	switch a {
	case intent.Up:
		g.step(-1)
	case intent.Down:
		g.step(1)
	case intent.PageUp:
		g.step(-page)
	case intent.PageDown:
		g.step(page)
	case intent.Left:
		g.across(-1)
	case intent.Right:
		g.across(1)
	case intent.First:
		g.on = place{}
	case intent.Last:
		if k := len(g.waves); k > 0 {
			g.on = place{k - 1, len(g.waves[k-1].nodes) - 1}
		}
	default:
		return false
	}
	return true
}

// step moves the cursor by so many nodes, into other waves where it leaves its own.
func (g *Graph) step(n int) {
	if len(g.waves) == 0 {
		return
	}
	for ; n > 0; n-- {
		switch {
		case g.on.row+1 < len(g.waves[g.on.col].nodes):
			g.on.row++
		case g.on.col+1 < len(g.waves):
			g.on = place{g.on.col + 1, 0}
		}
	}
	for ; n < 0; n++ {
		switch {
		case g.on.row > 0:
			g.on.row--
		case g.on.col > 0:
			g.on = place{g.on.col - 1, len(g.waves[g.on.col-1].nodes) - 1}
		}
	}
}

// across moves the cursor by so many waves.
func (g *Graph) across(n int) {
	if len(g.waves) == 0 {
		return
	}
	g.on.col = min(max(g.on.col+n, 0), len(g.waves)-1)
	g.on.row = min(g.on.row, len(g.waves[g.on.col].nodes)-1)
}

// Click moves the cursor to the node in a cell of the screen. It reports whether there is one, and whether the cursor was on
// it already.
func (g *Graph) Click(x, y int) (hit, again bool) {
	for _, s := range g.spots {
		if s.box.Contains(x, y) {
			again = g.on == s.at
			g.on = s.at
			return true, again
		}
	}
	return false, false
}

// took is how long a node has taken by now.
func (g *Graph) took(n *wave.NodeView, now time.Time) time.Duration {
	if n.State == plan.NodeWorking && n.Took > 0 || n.State == plan.NodeAsking {
		return n.Took + max(now.Sub(g.got), 0)
	}
	return n.Took
}

// wall is how long the task has taken by now.
func (g *Graph) wall(now time.Time) time.Duration {
	if g.view.Task.Started.IsZero() || !g.view.Task.Ended.IsZero() {
		return g.view.Wall
	}
	return g.view.Wall + max(now.Sub(g.got), 0)
}
