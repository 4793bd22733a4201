package views

import (
	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"
)

// Draw draws the current view, unless it is the terminal.
func (f *Feature) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, s *thread.Status, focus bool) {
	switch {
	case f.now == Timeline && f.reading:
		f.turn.Draw(c, b, th, focus)
	case f.now == Timeline:
		f.timeline.Draw(c, b, th, focus)
	case f.now == Context:
		rest := f.context.view.Draw(c, b, th, f.Keys, focus, s)
		if rest.Empty() {
			return
		}
		parent := ""
		if s.Parent != "" {
			parent = f.Name(s.Parent)
		}
		f.detail.Draw(c, rest, th, s, parent, f.Threads.Sharing(s.Thread))
	case f.now == Diff:
		f.diff.Draw(c, b, th, focus, f.Threads.Sharing(s.Thread))
	}
}
