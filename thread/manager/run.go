package manager

import (
	"orchestrator/thread/manager/recording"
)

// run is a thread's process with its folder: starting, resuming, rewinding, stopping and removing it.
type run struct {
	typist
	// recorder stores the agent's answers. It is used by the queue's steps only.
	recorder *recording.Recorder
	forget   func() // removes it from the registry; core.mu is held
}
