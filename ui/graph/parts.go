package graph

import (
	"fmt"

	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// mark notes where a node is, and shows that the cursor is on it.
func (g *Graph) mark(c *layout.Canvas, b layout.Box, th *theme.Theme, at place) {
	g.spots = append(g.spots, spot{b, at})
	if g.Cursor && at == g.on {
		c.Tint(b.Row(0), th.Style(theme.SelectedFocus))
	}
}

// title is the title of a wave: how many of it are done, and what the others are.
func (g *Graph) title(col int) []styled.Span {
	w := &g.waves[col]
	n, ended := 0, 0
	for _, i := range w.nodes {
		if v := &g.view.Nodes[i]; !v.Gate {
			n++
			if v.State == plan.NodeDelivered {
				ended++
			}
		}
	}
	out := []styled.Span{{Text: fmt.Sprintf("wave %d", w.number), Tok: theme.Heading}}
	if n > 0 {
		out = append(out, styled.Span{Text: fmt.Sprintf("  %d/%d", ended, n), Tok: theme.Muted})
	}
	if parts := counted(w.count); len(parts) > 0 {
		out = append(append(out, styled.Span{Text: "  "}), parts...)
	}
	return out
}

// drawName draws whether a node is on the longest chain, its mark and its name, before a column, and returns the column after
// it.
func (g *Graph) drawName(c *layout.Canvas, b layout.Box, th *theme.Theme, n *wave.NodeView, end int) int {
	l := looks[stateOf(*n)]
	if n.Critical {
		c.Print(b, 0, 0, th.Style(theme.Text), "━")
	}
	c.Print(b, 1, 0, th.Style(l.Tok), l.Glyph)
	tok := theme.Text
	switch stateOf(*n) {
	case asks:
		tok = theme.Waiting
	case waits, queued, skipped, cancelled:
		tok = theme.Muted
	default:
	}
	name := plain.Line(n.Agent)
	if n.Gate {
		name += "?"
	}
	return c.Print(b, 3, 0, th.Style(tok), plain.Cut(name, end-3))
}

// upstream names the agents that a node reads or follows, but for those of the wave before its own where
// their edges are drawn, and for gates, which it says that it waits for.
func (g *Graph) upstream(n *wave.NodeView, drawn bool) string {
	text := ""
	for _, name := range n.Upstreams() {
		if p, known := g.at[name]; known && (g.node(p).Gate || drawn && p.col == g.at[n.Agent].col-1) {
			continue
		}
		if text == "" {
			text = "← "
		} else {
			text += ", "
		}
		if text += plain.Line(name); len(text) > 200 {
			break
		}
	}
	return text
}
