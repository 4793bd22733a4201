package session

import (
	"time"

	"orchestrator/agent"
	"orchestrator/agent/dialog"
	"orchestrator/agent/vterm"
	"orchestrator/agent/world"
)

// Config configures sessions. The zero value is usable.
type Config struct {
	// Rules returns the screen rules of an agent; nil means none.
	Rules func(agentName string) []agent.Rule
	// Input returns the function that finds an agent's input on its screen; nil, for all agents or for one, if there is
	// none.
	Input func(agentName string) func(*vterm.Terminal) (agent.Input, bool)
	// Dialogs returns the dialogs of an agent that can be read and answered; nil means none.
	Dialogs func(agentName string) []dialog.Form
	// Scrollback is the number of history lines of each session; 0 is the emulator's default.
	Scrollback int
	// Version is the version that the terminal reports.
	Version string
	// Project is the folder of the project; agents and what they start are told.
	Project string
	// Foreign are the variables by which agents speak to what they start: those of an agent around us mean nothing to
	// ours.
	Foreign []world.Family
	// Processes is how many processes an agent may have, including all that it starts; 0 means no limit. They are counted
	// every CountEvery, by default every 2 seconds, while agents run.
	Processes  int
	CountEvery time.Duration
	// RunOutput is how many bytes an agent without a terminal may print; 0 is 64 MB.
	RunOutput int64
}
