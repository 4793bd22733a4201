// Package frame decides where the parts of the screen stand, and draws the rules between them.
//
// No part has a box around it: one rule stands between list and pane, one lies under the head line and one above the
// foot. The box of the agent's terminal depends on nothing but the size of the screen and what the person chose, so that
// no agent draws itself anew because a notice, an offer or a question comes or goes.
package frame

import (
	"orchestrator/ui/layout"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

const (
	// roomy is the height of the screen from which an empty row parts the pane's name from its content.
	roomy = 36
	// tall is the height from which notices have a line of their own.
	tall = 30
	// sparse is the height from which the facts below the list take more than two rows.
	sparse = 24
	// listLeast is how many rows a question leaves to the list.
	listLeast = 6
)

// Screen is what the places depend on.
type Screen struct {
	W, H  int
	List  int  // the width of the list beside the pane
	Whole bool // the list is hidden: one part at a time has the whole width
	// Listing is set while the list has the keys: it is what is shown where there is room for one part only.
	Listing bool
	Asks    int // the rows of a question where only the list is shown, its rule included
	Facts   int // the rows wanted for facts about the selected thread, without their title
}

// Boxes are the places of the parts. What is not shown is empty.
type Boxes struct {
	Head  layout.Box // how many threads need what
	Top   layout.Box // the rule below it
	Side  layout.Box // list, question and facts
	List  layout.Box // the threads
	Facts layout.Box // about the selected thread, below a rule with its name
	Pane  layout.Box
	Title layout.Box // the pane's name and state
	Inner layout.Box // the agent's terminal, or a view
	Foot  layout.Box // the rule above the last lines
	// Edge is the part of that rule below the pane, or below the list where that is all there is.
	Edge   layout.Box
	Strip  layout.Box // a question below the list, where there is no pane
	Notice layout.Box // the last notice: a line of its own, or on the rule where lines are few
	Keys   layout.Box

	Alone bool // list and pane are not beside each other
}

// Place returns the places.
func (s Screen) Place() Boxes {
	var b Boxes
	rest := layout.Box{W: s.W, H: s.H}
	b.Head, rest = rest.Top(1)
	b.Top, rest = rest.Top(1)
	rest, b.Keys = rest.Bottom(1)
	if s.H >= tall {
		rest, b.Notice = rest.Bottom(1)
	}
	rest, b.Foot = rest.Bottom(1)
	b.Alone = s.Whole || s.W < SideBySide
	b.Edge = b.Foot
	switch {
	case !b.Alone:
		b.Side, b.Pane = rest.Left(s.List)
		_, b.Pane = b.Pane.Left(1)
		b.Edge.X, b.Edge.W = b.Pane.X, b.Pane.W
	case s.Listing:
		b.Side = rest
	default:
		b.Pane = rest
	}
	s.side(&b)
	s.pane(&b)
	if b.Notice.Empty() {
		b.Notice = b.Foot
	}
	return b
}

// side divides the side bar.
func (s Screen) side(b *Boxes) {
	if b.Side.Empty() {
		return
	}
	rows := s.Facts
	switch {
	case s.H < sparse:
		rows = min(rows, 1)
	case s.H < tall:
		rows = min(rows, 2)
	}
	b.List, b.Facts = b.Side.Bottom(rows + 1)
	if b.Alone && s.Asks > 0 {
		b.List, b.Strip = b.List.Bottom(min(s.Asks, max(b.List.H-listLeast, 0)))
	}
}

// pane divides the pane.
func (s Screen) pane(b *Boxes) {
	if b.Pane.Empty() {
		return
	}
	b.Inner = b.Pane
	if !b.Alone {
		_, b.Inner = b.Inner.Left(1)
	}
	b.Title, b.Inner = b.Inner.Top(1)
	if s.H >= roomy {
		_, b.Inner = b.Inner.Top(1)
	}
}

// Terminal returns the box of the agent's terminal, or where it would be if the list stood there.
func (s Screen) Terminal() layout.Box {
	s.Listing = false
	return s.Place().Inner
}

// Divider returns the column of the rule between list and pane, -1 if there is none.
func (b Boxes) Divider() int {
	if b.Side.Empty() || b.Pane.Empty() {
		return -1
	}
	return b.Pane.X - 1
}

// Focus is the part that has the keys.
type Focus int

// The parts.
const (
	Nothing Focus = iota
	OnList
	OnPane
)

// Draw draws the rules. The rule above the part that has the keys is heavy, which needs no colours to be seen.
func (b Boxes) Draw(c *layout.Canvas, th *theme.Theme, f Focus) {
	light, heavy := th.Style(theme.Border), th.Style(theme.BorderFocus)
	rule := func(r layout.Box, on bool) {
		if on {
			c.Rule(r, heavy, "━")
		} else {
			c.Rule(r, light, "─")
		}
	}
	c.Rule(b.Foot, light, "─")
	x := b.Divider()
	if x < 0 {
		rule(b.Top, f == OnList && !b.Side.Empty() || f == OnPane && !b.Pane.Empty())
		return
	}
	left, right := b.Top.Left(x)
	rule(left, f == OnList)
	rule(right, f == OnPane)
	joint := map[Focus]string{OnList: "┭", OnPane: "┮"}[f]
	if joint == "" {
		joint = "┬"
	}
	c.Print(b.Top, x, 0, light, joint)
	c.Print(b.Foot, x, 0, light, "┴")
	for y := b.Top.Y + 1; y < b.Foot.Y; y++ {
		c.Print(c.Bounds(), x, y, light, "│")
	}
}

// Heading draws a rule with a title over the first row of a box, and joins it to the rule beside the box.
func (b Boxes) Heading(c *layout.Canvas, th *theme.Theme, box layout.Box, title []styled.Span) {
	row, _ := box.Top(1)
	if row.Empty() {
		return
	}
	light := th.Style(theme.Border)
	c.Rule(row, light, "─")
	Caption(c, th, row, title)
	x := b.Divider()
	switch {
	case x < 0:
	case row.X > x:
		c.Print(c.Bounds(), x, row.Y, light, "├")
	default:
		c.Print(c.Bounds(), x, row.Y, light, "┤")
	}
}

// Caption writes a title on a rule, and returns the column of the row after it.
func Caption(c *layout.Canvas, th *theme.Theme, row layout.Box, title []styled.Span) int {
	if len(title) == 0 || row.W < 6 {
		return 0
	}
	_, in := row.Left(1)
	in, _ = in.Left(in.W - 1)
	x := c.PrintSpans(in, 0, 0, th, append([]styled.Span{{Text: " "}}, title...))
	return 1 + c.Print(in, x, 0, th.Style(theme.Text), " ")
}
