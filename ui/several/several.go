// Package several decides which threads are shown beside the selected one, and draws their title bars: in a stack below
// its terminal, or above terminals of their own. A thread keeps its part of the screen while others come and go. The
// layout is remembered while the screen is open.
package several

import (
	"orchestrator/thread"
	"orchestrator/ui/frame"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Config configures the feature.
type Config struct {
	Size    func() (w, h int)  // of the screen
	Changed func(frame.Layout) // is called when the person has chosen another layout
	Seen    func() bool        // reports whether the pane is shown
	// Aside returns how many lines the terminal of a thread beside the selected one is scrolled back, and why there is
	// nothing to show of it.
	Aside func(thread.ID) (back int, problem error)
}

// Feature is the choice of the layout and of the threads in it.
type Feature struct {
	*host.Host
	cfg    Config
	layout frame.Layout
	zoomed bool
	stack  []*thread.Status // as drawn last
	bars   []*thread.Status // title bars drawn last that are not of the stack
	slots  slots
}

// slots are the threads that have a terminal each. The zero value is ready to use.
type slots struct {
	ids    []thread.ID // "" where none is
	at     int         // where the selected thread is
	recent []thread.ID // the threads that were selected, the last one first
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

// next goes to the next layout, and says its name where it cannot be seen.
func (f *Feature) next() tea.Cmd {
	f.layout, f.zoomed = f.layout.Next(f.cfg.Size()), false
	f.cfg.Changed(f.layout)
	if f.cfg.Seen() {
		f.Screen.Redraw()
		return nil
	}
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
