package manager

import (
	"orchestrator/thread/manager/recording"
)

// run is a thread's process with its folder: how it is started, resumed, rewound, stopped and removed.
type run struct {
	typist
	// recorder makes what the agent answers durable. It belongs to the queue's steps.
	recorder *recording.Recorder
	forget   func() // strikes it off the registry; core.mu is held
}
