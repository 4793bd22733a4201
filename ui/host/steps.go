package host

import (
	"orchestrator/ui/dialog"

	tea "charm.land/bubbletea/v2"
)

// Step is something that was done on this screen.
type Step struct {
	What string // such as "archive auth-feature-a3f2"
	// CannotUndo explains why it cannot be undone, and what can be done instead; "" if it can.
	CannotUndo string
	// Ways returns the text of the question whether to undo it, and the ways to do so.
	Ways func() (body []dialog.Line, ways []Way)
	// Obsolete returns why there is nothing to undo any more, or "".
	Obsolete func() string
}

// Way is a way to undo a step.
type Way struct {
	Label string
	Run   func() tea.Cmd
}

// Steps has the steps that were done. Undo is always about the newest one, even if it cannot be undone: it never
// silently undoes an older one.
type Steps struct{ done []Step }

// Add records a step.
func (s *Steps) Add(step Step) { s.done = append(s.done, step) }

// Len returns the number of steps.
func (s *Steps) Len() int { return len(s.done) }

// Last returns the newest step, or nil.
func (s *Steps) Last() *Step {
	if len(s.done) == 0 {
		return nil
	}
	return &s.done[len(s.done)-1]
}

// Drop removes the newest step.
func (s *Steps) Drop() { s.done = s.done[:max(len(s.done)-1, 0)] }
