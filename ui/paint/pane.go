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
	// Watched is set if the pane is only watched: it is painted less often, and where its terminal is higher than its box,
	// the newest rows of it are shown.
	Watched bool
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
		return screen + uint64(p.hidden(t))
	}
	return min(max(p.Top, first), screen)
}

// hidden returns how many rows of the screen are above the box.
func (p *Pane) hidden(t *vterm.Terminal) int {
	if !p.Watched {
		return 0
	}
	return Hidden(t, p.Box.H)
}

// Hidden returns how many rows of a terminal's screen are above a box of h rows that shows its newest ones.
func Hidden(t *vterm.Terminal, h int) int {
	_, rows := t.Size()
	if h >= rows {
		return 0
	}
	var cells []vterm.Cell
	for y := rows - 1; y >= h; y-- {
		if y == t.Cursor().Y {
			return y - h + 1
		}
		if cells = t.Row(cells[:0], y); !Blank(cells) {
			return y - h + 1
		}
	}
	return 0
}

// Blank reports whether nothing is seen of cells.
func Blank(cells []vterm.Cell) bool {
	for i := range cells {
		if c := &cells[i]; c.Rune > ' ' || c.Cluster != "" || c.Style != (vterm.Style{}) {
			return false
		}
	}
	return true
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
	set        bool // it is not adopted yet
	queued     bool // adoptNow will run
}
