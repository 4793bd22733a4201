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
	open     *openRuns
	sessions *workSessions
	merging  *exclusive
	// attempt is the execution whose process is the thread's, nil if none is; guarded by liveThread.mu.
	attempt *attempt
	// opened is set if it was started in a terminal since its newest execution; guarded by liveThread.mu.
	opened bool
}

// attemptOf returns the execution whose process is the thread's, nil if none is.
func attemptOf(l *run) *attempt {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	return l.attempt
}

// hasRun reports whether the thread has had an execution.
func hasRun(l *run) bool {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	return l.live.run != nil
}
