package frame

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// SideBySide is the width of the screen from which list and pane stand beside each other.
const SideBySide = 80

const (
	listMin, listMax = 30, 60 // of the list, unless the person says another width
	narrowest        = 20     // of the list when the person says so
	paneMin          = 40     // what is left to the pane then
	step             = 4
)

// Split divides the width between list and pane: 38 % for the list, unless the person says otherwise. The zero value is
// ready to use.
type Split struct {
	width int  // what the person wants, 0 for nothing
	two   bool // two terminals stand beside the list
}

// Share tells whether two terminals stand beside the list: it leaves each the width that most programs expect, unless
// the person says otherwise.
func (s *Split) Share(two bool) { s.two = two }

// Width returns the width of the list on a screen.
func (s *Split) Width(screen int) int {
	if s.width == 0 {
		w := min(max((screen*38+50)/100, listMin), listMax)
		if s.two {
			w = min(w, max(screen-2*(80+2), listMin))
		}
		return w
	}
	return min(max(s.width, narrowest), max(screen-1-paneMin, narrowest))
}

// Widen makes the list wider by n steps, or narrower.
func (s *Split) Widen(screen, n int) { s.Drag(screen, s.Width(screen)+n*step) }

// Drag puts the rule between list and pane into a column.
func (s *Split) Drag(screen, x int) {
	s.width = max(x, 1)
	s.width = s.Width(screen)
}

// Reset takes back what the person wanted.
func (s *Split) Reset() { s.width = 0 }

// Drag is a drag of the rule between list and pane. The zero value is ready to use.
type Drag struct {
	on      bool
	clicked time.Time // when it was clicked last
}

// doubleClick is the longest time between the clicks of a double one.
const doubleClick = 400 * time.Millisecond

// Press begins a drag. The second of two presses at once takes back what the person wanted.
func (d *Drag) Press(s *Split, now time.Time) {
	if now.Sub(d.clicked) < doubleClick {
		s.Reset()
		*d = Drag{}
		return
	}
	d.on, d.clicked = true, now
}

// On reports whether the rule is being dragged.
func (d *Drag) On() bool { return d.on }

// Mouse follows the mouse until its button is up. Until then no terminal should be resized.
func (d *Drag) Mouse(s *Split, screen int, msg tea.MouseMsg) {
	if _, moves := msg.(tea.MouseMotionMsg); moves {
		s.Drag(screen, msg.Mouse().X)
		return
	}
	d.on = false
}
