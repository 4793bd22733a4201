// Package frame decides where the parts of the screen stand, and draws the rules between them.
//
// No part has a box around it: one rule stands between list and pane, one lies under the head line and one above the
// foot. The box of the agent's terminal depends on nothing but the size of the screen and what the person chose, so that
// no agent draws itself anew because a notice, an offer or a question comes or goes.
package frame

import (
	"slices"

	"orchestrator/ui/layout"
)

const (
	// roomy is the height of the screen from which an empty row parts the pane's name from its content.
	roomy = 36
	// tall is the height from which notices have a line of their own.
	tall = 30
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

	Layout Layout // how threads share the pane
	At     int    // the part in which the selected thread is, where there are several
	Zoomed bool   // the pane of the selected thread has the whole screen
	Reads  bool   // a view is shown, which has all of the pane, and no terminal
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
	Stack layout.Box // title bars of other threads, below a rule
	Parts []Part     // of the pane, where several threads have one; Title and Inner are of that of the selected thread
	At    int        // which one that is
	Foot  layout.Box // the rule above the last lines
	// Edge is the rule below the terminal, or below the list where that is all there is.
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
	layout := s.shared()
	covers := s.Zoomed || layout == Wall && s.W < TwoColumns // nothing stands beside the pane, whoever has the keys
	b.Alone = s.Whole || s.W < SideBySide || covers
	b.Edge = b.Foot
	switch {
	case !b.Alone:
		b.Side, b.Pane = rest.Left(s.List)
		_, b.Pane = b.Pane.Left(1)
		b.Edge.X, b.Edge.W = b.Pane.X, b.Pane.W
	case s.Listing && !covers:
		b.Side = rest
	default:
		b.Pane = rest
	}
	s.side(&b)
	s.pane(&b, layout)
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
func (s Screen) pane(b *Boxes, layout Layout) {
	if b.Pane.Empty() {
		return
	}
	if layout == Columns || layout == Wall {
		b.Parts = layout.divide(b.Pane, b.Top)
		b.At = min(max(s.At, 0), len(b.Parts)-1)
		b.Title, b.Inner = b.Parts[b.At].Title, b.Parts[b.At].Inner
		b.Edge = b.Foot
		if b.At+2 < len(b.Parts) {
			b.Edge = b.Parts[b.At+2].Rule
		}
		b.Edge = b.Edge.Columns(b.Parts[b.At].Box)
		return
	}
	b.Inner = b.Pane
	if layout == Stack {
		b.Inner, b.Stack = b.Inner.Bottom(1 + stackRows(s.H))
		b.Edge = b.Stack.Row(0)
	}
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
	s.Listing, s.Reads = false, false
	return s.Place().Inner
}

// Terminals returns the boxes of all terminals, whatever stands there.
func (s Screen) Terminals() []layout.Box {
	s.Listing, s.Reads = false, false
	b := s.Place()
	if len(b.Parts) == 0 {
		return []layout.Box{b.Inner}
	}
	boxes := make([]layout.Box, len(b.Parts))
	for i, p := range b.Parts {
		boxes[i] = p.Inner
	}
	return boxes
}

// Divider returns the column of the rule between list and pane, -1 if there is none.
func (b Boxes) Divider() int {
	if b.Side.Empty() || b.Pane.Empty() {
		return -1
	}
	return b.Pane.X - 1
}

// shared returns how threads share the pane on this screen.
func (s Screen) shared() Layout {
	switch {
	case s.Zoomed, s.Reads && s.Layout > Stack:
		return Single
	case !s.Layout.Fits(s.W, s.H):
		return Stack
	default:
		return s.Layout
	}
}

// PartAt returns the part in which a cell is, -1 for none.
func (b Boxes) PartAt(x, y int) int {
	return slices.IndexFunc(b.Parts, func(p Part) bool { return p.Box.Contains(x, y) })
}

// Lent returns the place of so many rows at the bottom of the terminal, from the rule beside it on.
func (b Boxes) Lent(rows int) layout.Box {
	box := b.Pane
	if len(b.Parts) > 0 {
		box = b.Parts[b.At].Box
	}
	_, lent := b.Inner.Bottom(rows)
	return layout.Box{X: box.X, Y: lent.Y, W: box.W, H: lent.H}
}
