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
	// Matches are highlighted. Another value means other matches.
	Matches *Matches
	// Cursor shows the program's cursor, if it has one, because the pane is focused.
	Cursor bool
	// Caret shows the cursor at a place of the text instead, because the pane is read.
	Caret *vterm.Point
}

// Matches are stretches of lines. It does not change.
type Matches struct {
	lines map[uint64][]stretch
}

// stretch is columns a..b-1.
type stretch struct{ a, b int }

// Add adds columns a..b-1 of a line. It is for building a value that nobody has yet.
func (m *Matches) Add(line uint64, a, b int) {
	if m.lines == nil {
		m.lines = map[uint64][]stretch{}
	}
	m.lines[line] = append(m.lines[line], stretch{a, b})
}

// on returns the stretches of a line.
func (m *Matches) on(line uint64) []stretch {
	if m == nil {
		return nil
	}
	return m.lines[line]
}

// topLine returns the number of the first line that is shown.
func (p *Pane) topLine(t *vterm.Terminal) uint64 {
	first := t.FirstLine()
	screen := first + uint64(t.History())
	if !p.Scrolled {
		return screen
	}
	return min(max(p.Top, first), screen)
}

func (p *Pane) equal(o *Pane) bool {
	if p == nil || o == nil {
		return p == o
	}
	a, b := *p, *o
	a.Selection, b.Selection, a.Caret, b.Caret = nil, nil, nil, nil
	return a == b && same(p.Selection, o.Selection) && same(p.Caret, o.Caret)
}

// same reports whether two optional values are the same.
func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// wanted is the last requested pane. Its lock is the innermost: nothing is called while it is held.
type wanted struct {
	sync.Mutex
	pane, last *Pane
	set        bool // pane is not adopted yet
	queued     bool // adoptNow will run
}
