package session

import (
	"time"

	"orchestrator/agent"
	"orchestrator/agent/vterm"
)

// Config says how sessions are run. The zero value is usable.
type Config struct {
	// Rules returns the screen rules of an agent; nil means none.
	Rules func(agentName string) []agent.Rule
	// Input returns how an agent's input is found on its screen; nil, for all or for one, where it cannot be.
	Input func(agentName string) func(*vterm.Terminal) (agent.Input, bool)
	// Scrollback is the number of history lines of each; 0 is the emulator's default.
	Scrollback int
	// Version is what the terminal calls itself.
	Version string
	// Project is the folder of the project, which agents and what they start are told.
	Project string
	// Processes is how many processes an agent may have, itself and all that it starts; 0 is no bound. They are
	// counted every CountEvery, 2 seconds when it is 0, while agents run.
	Processes  int
	CountEvery time.Duration
}
