package frame

import (
	"orchestrator/ui/layout"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

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
	light := th.Style(theme.Border)
	c.Rule(b.Foot, light, "─")
	x := b.Divider()
	if x < 0 {
		b.rule(c, th, b.Top, f == OnList && !b.Side.Empty() || f == OnPane && !b.Pane.Empty() && len(b.Parts) == 0)
		b.drawParts(c, th, f)
		return
	}
	left, right := b.Top.Left(x)
	b.rule(c, th, left, f == OnList)
	b.rule(c, th, right, f == OnPane && len(b.Parts) == 0)
	joint := "┬"
	switch {
	case f == OnList:
		joint = "┭"
	case f == OnPane && b.At == 0:
		joint = "┮"
	}
	c.Print(b.Top, x, 0, light, joint)
	c.Print(b.Foot, x, 0, light, "┴")
	for y := b.Top.Y + 1; y < b.Foot.Y; y++ {
		c.Print(c.Bounds(), x, y, light, "│")
	}
	b.drawParts(c, th, f)
}

// rule draws a rule, a heavy one above what has the keys.
func (b Boxes) rule(c *layout.Canvas, th *theme.Theme, r layout.Box, heavy bool) {
	if heavy {
		c.Rule(r, th.Style(theme.BorderFocus), "━")
	} else {
		c.Rule(r, th.Style(theme.Border), "─")
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
	if row.X > 0 {
		joint := "├"
		if b.Facts.Y == row.Y && b.Facts.X+b.Facts.W == row.X-1 {
			joint = "┼"
		}
		c.Print(c.Bounds(), row.X-1, row.Y, light, joint)
	}
	if x := row.X + row.W; x == b.Divider() || len(b.Parts) > 1 && x == b.Parts[1].Box.X-1 {
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

// drawParts draws the rules between the parts.
func (b Boxes) drawParts(c *layout.Canvas, th *theme.Theme, f Focus) {
	if len(b.Parts) == 0 {
		return
	}
	light := th.Style(theme.Border)
	x := b.Parts[1].Box.X - 1
	for y := b.Pane.Y; y < b.Pane.Y+b.Pane.H; y++ {
		c.Print(c.Bounds(), x, y, light, "│")
	}
	c.Print(c.Bounds(), x, b.Foot.Y, light, "┴")
	for i, p := range b.Parts {
		b.rule(c, th, p.Rule, f == OnPane && i == b.At)
		if i%2 == 0 {
			continue
		}
		joints := [...]string{"┬", "┭", "┮"}
		if i > 1 {
			joints = [...]string{"┼", "┽", "┾"}
			if d := b.Divider(); d >= 0 {
				c.Print(c.Bounds(), d, p.Rule.Y, light, map[bool]string{false: "├", true: "┝"}[f == OnPane && b.At == 2])
			}
		}
		joint := joints[0]
		switch {
		case f != OnPane:
		case b.At == i-1:
			joint = joints[1]
		case b.At == i:
			joint = joints[2]
		}
		c.Print(c.Bounds(), x, p.Rule.Y, light, joint)
	}
}
