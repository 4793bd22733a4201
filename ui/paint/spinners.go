package paint

import (
	"slices"
	"sync"
	"time"

	"orchestrator/agent/vterm"
	"orchestrator/ui/layout"
)

// spinners are marks in what Bubble Tea draws that turn without it. It always draws their first frame: for a picture of its
// own it would compose, parse and compare the whole screen four times a second.
type spinners struct {
	cells []spinner
	frame int

	// next has a lock of its own, the innermost one: Turn does not wait for the terminal.
	next struct {
		sync.Mutex
		want  []layout.Point
		set   bool // want is not adopted yet
		timer *time.Timer
	}
}

// spinner is a mark.
type spinner struct {
	at    layout.Point
	gone  bool       // it turns no more
	drawn bool       // the terminal shows frame, which was painted when the chrome's row had generation gen
	was   vterm.Cell // what the chrome has in its place then
	frame int
	gen   uint64
}

// adopt takes over where marks turn.
func (s *spinners) adopt() {
	s.next.Lock()
	defer s.next.Unlock()
	if !s.next.set {
		return
	}
	s.next.set = false
	for i := range s.cells {
		s.cells[i].gone = !slices.Contains(s.next.want, s.cells[i].at)
	}
	for _, at := range s.next.want {
		if !slices.ContainsFunc(s.cells, func(c spinner) bool { return c.at == at }) {
			s.cells = append(s.cells, spinner{at: at})
		}
	}
}

// forget makes the next frame draw every mark.
func (s *spinners) forget() {
	for i := range s.cells {
		s.cells[i].drawn = false
	}
}
