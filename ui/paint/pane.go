package paint

import (
	"sync"

	"orchestrator/agent/vterm"
	"orchestrator/ui/layout"
)

// Source is a terminal that is fed elsewhere. View calls f with the terminal locked.
type Source interface {
	View(f func(*vterm.Terminal))
}

// Box is a rectangle of the screen in cells.
type Box = layout.Box

// Pane is what to draw, and where.
type Pane struct {
	Box    Box
	Source Source
	// Scrolled shows the history from line Top on, in the numbering of vterm.Terminal.FirstLine.
	Scrolled bool
	Top      uint64
	// Selection is shown in reverse video.
	Selection *vterm.Selection
	// Cursor shows the program's cursor, if it has one, because the pane is focused.
	Cursor bool
}

func (p *Pane) equal(o *Pane) bool {
	if p == nil || o == nil {
		return p == o
	}
	a, b := *p, *o
	a.Selection, b.Selection = nil, nil
	same := p.Selection == o.Selection || p.Selection != nil && o.Selection != nil && *p.Selection == *o.Selection
	return a == b && same
}

// wanted is the last requested pane. Its lock is the innermost: nothing is called while it is held.
type wanted struct {
	sync.Mutex
	pane, last *Pane
	set        bool // pane is not adopted yet
	queued     bool // adoptNow will run
}
