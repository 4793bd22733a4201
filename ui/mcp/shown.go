package mcp

import (
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/list"
)

// shown is the rows of a list with a box in front of each.
type shown struct {
	win    list.Window
	listed layout.Box // where the rows were drawn last
}

// Handle handles an action and reports whether it was one that moves.
func (s *shown) Handle(a intent.Action) bool { return s.win.Handle(a) }

// Click moves the cursor to the row in a cell of the screen, and reports whether the cell is in its box.
func (s *shown) Click(x, y int) (inBox bool) {
	if !s.listed.Contains(x, y) {
		return false
	}
	i, ok := s.win.Hit(y - s.listed.Y)
	if ok {
		s.win.Go(i)
	}
	return ok && x-s.listed.X < boxWidth-1
}
