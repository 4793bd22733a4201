// Package foot draws the last notice near the lower edge of the screen, never over the keys.
package foot

import (
	"orchestrator/ui/frame"
	"orchestrator/ui/host"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Notice draws the last notice with its time: on a line of its own, or as a title of the rule above the keys. Once it is
// no longer news it stays on its line, but is not loud. While a dialog is open, which may stand over that line, it is
// where the keys are otherwise. asked is set while a question stands on the pane's edge.
func Notice(c *layout.Canvas, b frame.Boxes, th *theme.Theme, notices *host.Notices, dialog, asked bool) {
	n, news := notices.Last()
	own := b.Notice != b.Foot && !dialog
	if n == nil || !news && !own {
		return
	}
	tok := theme.Muted
	if news {
		tok = n.Token()
	}
	row := b.Notice
	switch {
	case dialog:
		row = b.Keys
	case !own && asked && b.Edge != b.Foot:
		row, _ = row.Left(b.Edge.X - 1)
	}
	at := n.At.Format("15:04 ")
	text := plain.Cut(plain.Line(n.Text), row.W-len(at)-4)
	if row.Y == b.Foot.Y {
		frame.Caption(c, th, row, []styled.Span{{Text: at, Tok: theme.Muted}, {Text: text, Tok: tok}})
		return
	}
	x := c.Print(row, 1, 0, th.Style(theme.Muted), at)
	c.Print(row, x, 0, th.Style(tok), text)
}
