package manager

import "orchestrator/thread"

// basedStart is how a process was started whose first request has not been seen.
type basedStart struct {
	agent   thread.Slimmer
	spec    thread.WorldSpec
	left    []string // what it was told to leave out, and does
	resumed bool
}
