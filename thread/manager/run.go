package manager

import (
	"orchestrator/thread/manager/events"
	"orchestrator/thread/manager/past"
	"orchestrator/thread/manager/recording"
)

// run is a thread's process with its folder: starting, resuming, rewinding, stopping and removing it.
type run struct {
	live     *liveThread
	typist   *typist
	cfg      *Config
	past     past.Reader
	bus      *events.Bus
	work     *work
	notices  *notices
	intents  *intents
	environs *environs
	index    *index
	starts   *starts
	checker  *baseChecker
	// recorder stores the agent's answers. It is used by the queue's steps only.
	recorder *recording.Recorder
	forget   func() // removes it from the registry
}
