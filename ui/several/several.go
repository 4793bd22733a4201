// Package several decides which threads are shown beside the selected one, and draws their title bars: in a stack below
// its terminal, or above terminals of their own. A thread keeps its part of the screen while others come and go. The
// layout is remembered while the screen is open.
package several

import (
	"orchestrator/thread"
	"orchestrator/ui/frame"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// Config configures the feature.
type Config struct {
	Size    func() (w, h int)  // of the screen
	Changed func(frame.Layout) // is called when the person has chosen another layout
}

// Feature is the choice of the layout and of the threads in it.
type Feature struct {
	*host.Host
	cfg    Config
	layout frame.Layout
	zoomed bool
	stack  []*thread.Status // as drawn last
}

// New adds the feature to a host.
func New(h *host.Host, cfg Config) *Feature {
	f := &Feature{Host: h, cfg: cfg}
	h.Actions.On(intent.Layout, f.next)
	h.Actions.On(intent.Zoom, func() tea.Cmd {
		f.zoomed = !f.zoomed
		f.Screen.Redraw()
		return nil
	})
	return f
}

// next goes to the next layout, and says its name.
func (f *Feature) next() tea.Cmd {
	f.layout, f.zoomed = f.layout.Next(f.cfg.Size()), false
	if f.layout.Parts() > 1 {
		f.layout = frame.Single
	}
	f.cfg.Changed(f.layout)
	return f.Notify(thread.LevelInfo, "Layout: "+f.layout.String())
}

// Layout returns the layout that the person has chosen.
func (f *Feature) Layout() frame.Layout { return f.layout }

// Zoomed reports whether the pane of the selected thread has the whole screen.
func (f *Feature) Zoomed() bool { return f.zoomed }

// Unzoom shows all again, and reports whether that changed anything.
func (f *Feature) Unzoom() bool {
	was := f.zoomed
	f.zoomed = false
	return was
}

// DrawStack draws title bars of the threads that ask the most besides the selected one. titled is set if nothing else
// stands on the rule above them.
func (f *Feature) DrawStack(c *layout.Canvas, b frame.Boxes, th *theme.Theme, titled bool) {
	f.stack = nil
	if b.Stack.Empty() {
		return
	}
	_, rows := b.Stack.Top(1)
	var title []styled.Span
	if titled {
		title = append(title, styled.Span{Text: "stack", Tok: theme.Title})
	}
	b.Heading(c, th, b.Stack, title)
	if key := f.Keys.KeyOf(intent.Layout); titled && key != "" {
		hint := []styled.Span{{Text: " "}, {Text: key, Tok: theme.Key}, {Text: " layout ", Tok: theme.Muted}}
		c.PrintSpans(b.Stack, b.Stack.W-styled.Width(hint...)-1, 0, th, hint)
	}
	selected := f.Threads.Selected()
	f.stack = f.Threads.Loudest(rows.H, func(s *thread.Status) bool { return selected != nil && s.ID == selected.ID })
	bar := tree.Bar{Name: theme.Text, Width: min(max(rows.W/4, 12), 32), Now: f.Clock()}
	for y, s := range f.stack {
		f.Threads.DrawBar(c, rows.Row(y), th, s, bar)
	}
}

// Turns reports whether something in the title bars turns.
func (f *Feature) Turns() bool { return f.Threads.Turns(f.stack) }

// Click returns the thread whose title bar is at a place, or "".
func (f *Feature) Click(b frame.Boxes, x, y int) thread.ID {
	_, rows := b.Stack.Top(1)
	if i := y - rows.Y; rows.Contains(x, y) && i < len(f.stack) {
		return f.stack[i].ID
	}
	return ""
}
