package graph

import (
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// beside is the width from which on waves stand side by side.
const beside = 96

// Draw draws the task: a line of what it is as a whole, its waves, and at the bottom more of the node under the cursor.
func (g *Graph) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, now time.Time) {
	g.spots, g.whole = g.spots[:0], false
	head, b := b.Top(1)
	c.PrintSpans(head, 0, 0, th, g.head(head.W, now))
	if b.H >= 6 {
		_, b = b.Top(1)
	}
	if g.Cursor && b.H >= 10 {
		var foot layout.Box
		b, foot = b.Bottom(min(2+b.H/8, 6))
		g.drawFoot(c, foot, th, now)
	}
	if b.Empty() || len(g.waves) == 0 {
		return
	}
	if g.side(b.W) {
		g.drawColumns(c, b, th, now)
	} else {
		g.drawList(c, b, th, now)
	}
}

// side reports whether waves stand side by side in a width.
func (g *Graph) side(w int) bool { return w >= beside && len(g.waves) > 1 }

// Rows returns how many rows a drawing without a cursor needs in a width, at most so many.
func (g *Graph) Rows(w, most int) int {
	n := 2
	if !g.side(w) {
		for i := range g.waves {
			n += 1 + len(g.waves[i].nodes)
		}
		return min(n, most)
	}
	tallest := 0
	for i := range g.waves {
		tallest = max(tallest, len(g.waves[i].nodes))
	}
	return min(n+1+tallest*(leastLines+1), most)
}

// head is what the task is as a whole, in as many parts as there is room for.
func (g *Graph) head(w int, now time.Time) []styled.Span {
	v := g.view
	var all [states]int
	agents, ended := 0, 0
	for _, c := range g.waves {
		for s, n := range c.count {
			all[s] += n
		}
	}
	for i := range v.Nodes {
		if n := &v.Nodes[i]; !n.Gate {
			agents++
			if n.State == plan.NodeDelivered || n.State == plan.NodeSkipped {
				ended++
			}
		}
	}
	status, tok := Status(v.Task.Status)
	out := []styled.Span{{Text: status, Tok: tok}, {Text: fmt.Sprintf("  %d/%d", ended, agents), Tok: theme.Strong}}
	if parts := counted(all); len(parts) > 0 {
		out = append(append(out, styled.Span{Text: "  "}), parts...)
	}
	add := func(tok theme.Token, format string, args ...any) {
		s := styled.Span{Text: "  " + fmt.Sprintf(format, args...), Tok: tok}
		if styled.Width(out...)+styled.Width(s) <= w {
			out = append(out, s)
		}
	}
	if v.Usage.Context() > 0 {
		add(theme.Text, "%s tokens %s", thread.Tokens(v.Usage.Context()), v.Usage.Money())
	}
	if wall := g.wall(now); wall > 0 {
		add(theme.Text, "wall %s", elapsed(wall))
		if v.Critical > 0 {
			add(theme.Muted, "━ longest chain %s", elapsed(v.Critical))
		}
		if v.Alone > 0 {
			add(theme.Muted, "one after the other %s", elapsed(v.Alone))
		}
	}
	return out
}

// Status returns the words for a task's status, and their style.
func Status(s plan.Status) (string, theme.Token) {
	word := strings.ReplaceAll(string(s), "_", " ")
	switch s {
	case plan.InProgress:
		return word, theme.Working
	case plan.Failed:
		return word, theme.Bad
	case plan.Proposed:
		return word, theme.Waiting
	default:
		return word, theme.Muted
	}
}

// drawFoot says more of the node under the cursor.
func (g *Graph) drawFoot(c *layout.Canvas, b layout.Box, th *theme.Theme, now time.Time) {
	n, ok := g.Node()
	if !ok {
		return
	}
	c.Rule(b, th.Style(theme.Border), "─")
	_, b = b.Top(1)
	l := looks[stateOf(n)]
	first := []styled.Span{{Text: l.Glyph + " ", Tok: l.Tok}, {Text: plain.Line(n.Agent), Tok: theme.Strong}, {Text: "  " + Word(n), Tok: l.Tok}}
	if facts := g.facts(n, now); facts != "" {
		first = append(first, styled.Span{Text: "  " + facts, Tok: theme.Muted})
	}
	lines := styled.Wrap(b.W, first...)
	if text, tok := g.full(n); text != "" {
		lines = append(lines[:1], styled.Wrap(b.W, styled.Span{Text: text, Tok: tok})...)
	}
	g.whole = len(lines) <= b.H
	for y, l := range lines {
		if y < b.H {
			c.PrintSpans(b.Row(y), 0, 0, th, l.Spans)
		}
	}
}

// Whole reports whether all that there is to say of the node under the cursor was drawn.
func (g *Graph) Whole() bool { return g.whole }

// facts are what is known of a node in a few words.
func (g *Graph) facts(n wave.NodeView, now time.Time) string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if !n.Gate {
		add(Who(n))
	}
	add(plain.Line(n.Exec))
	if n.Round > 1 {
		add(fmt.Sprintf("round %d", n.Round))
	}
	add(used(n.Usage))
	add(elapsed(g.took(&n, now)))
	if n.Version > 0 {
		add(fmt.Sprintf("version %d", n.Version))
	}
	if n.Critical {
		add("on the longest chain")
	}
	var reads []string
	for _, name := range n.Reads {
		if v := n.Given[name]; v > 0 {
			name += fmt.Sprintf(" %d", v)
		}
		reads = append(reads, plain.Line(name))
	}
	if len(reads) > 0 {
		add("reads " + strings.Join(reads, ", "))
	}
	if len(n.After) > 0 {
		add("after " + plain.Line(strings.Join(n.After, ", ")))
	}
	return strings.Join(parts, ", ")
}

// full is what there is to say of a node, uncut.
func (g *Graph) full(n wave.NodeView) (string, theme.Token) {
	text, tok := says(&n)
	switch s := stateOf(n); {
	case s == asks && n.Question != "":
		text = plain.Line(n.Question)
	case s == failed && n.Error != "":
		text = plain.Line(n.Error)
	case s == stalled:
		text = "stalled: " + plain.Line(n.Stalled)
	case s == done && n.Summary != "":
		text = plain.Line(n.Summary)
	}
	return text, tok
}
