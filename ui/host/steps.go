package host

import (
	"orchestrator/ui/dialog"

	tea "charm.land/bubbletea/v2"
)

// Step is something that was done on this screen.
type Step struct {
	What string // "archive of auth-feature-a3f2"
	// Never says that it cannot be undone, and what is left of it.
	Never string
	// Ways are the ways to undo it, asked for when the person is asked.
	Ways func() (body []dialog.Line, ways []Way)
	// Over says why there is nothing to undo any more, "" while there is.
	Over func() string
}

// Way is a way to undo something.
type Way struct {
	Label string
	Run   func() tea.Cmd
}

// Steps are what was done. The newest is what undo is about, whether it can be undone or not: it never reaches behind
// to something else unsaid.
type Steps struct{ done []Step }

// Did notes what was done.
func (s *Steps) Did(step Step) { s.done = append(s.done, step) }

// Len counts the steps.
func (s *Steps) Len() int { return len(s.done) }

// Last returns the newest step, nil when there is none.
func (s *Steps) Last() *Step {
	if len(s.done) == 0 {
		return nil
	}
	return &s.done[len(s.done)-1]
}

// Drop forgets the newest step.
func (s *Steps) Drop() { s.done = s.done[:max(len(s.done)-1, 0)] }
