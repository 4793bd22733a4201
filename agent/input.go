package agent

import (
	"orchestrator/agent/vterm"
)

// Input is what an agent's input holds.
type Input struct {
	// Text is what stands there, without the agent's own words: its placeholder, a suggestion.
	Text string
	// Pasted is set where it shows something short in place of a long paste.
	Pasted bool
}

// Empty reports whether nothing stands in it.
func (i Input) Empty() bool { return i.Text == "" && !i.Pasted }

// Inputter is an agent whose input can be read off its screen. Optional for a thread.Agent.
type Inputter interface {
	// Input finds the input; false where the screen shows none, as when a menu is open.
	Input(*vterm.Terminal) (Input, bool)
}
