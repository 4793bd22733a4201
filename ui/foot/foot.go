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

// Notices draws what was said last, with its time: on a line of its own, or as a title of the rule above the keys. Once
// it is no longer news it stays on its line, and what happened before beside it, but is not loud. While a dialog is open,
// which may stand over that line, news are where the keys are otherwise. asked is set while a question stands on the
// pane's edge.
func Notices(c *layout.Canvas, b frame.Boxes, th *theme.Theme, notices *host.Notices, dialog, asked bool) {
	own := b.Notice != b.Foot && !dialog
	row := b.Notice
	switch {
	case dialog:
		row = b.Keys
	case !own && asked && b.Edge.Y == b.Foot.Y && b.Edge != b.Foot:
		row, _ = row.Left(b.Edge.X - 1)
	}
	var said []styled.Span
	if n := notices.Now(); n != nil {
		said = append(said, line(*n, n.Token(), row.W-4)...)
	}
	if row.Y == b.Foot.Y {
		frame.Caption(c, th, row, said)
		return
	}
	for _, n := range notices.Recent() {
		room := row.W - styled.Width(said...) - 4
		if len(said) > 0 {
			room -= 3
		}
		next := line(n, theme.Muted, room)
		if !own || len(said) > 0 && next[1].Text != text(n) {
			break // only whole
		}
		if len(said) > 0 {
			said = append(said, styled.Span{Text: "   "})
		}
		said = append(said, next...)
	}
	c.PrintSpans(row, 1, 0, th, said)
}

// line is a notice with its time.
func line(n host.Notice, tok theme.Token, w int) []styled.Span {
	at := n.At.Format("15:04 ")
	return []styled.Span{{Text: at, Tok: theme.Muted}, {Text: plain.Cut(text(n), w-len(at)), Tok: tok}}
}

func text(n host.Notice) string { return plain.Line(n.String()) }
