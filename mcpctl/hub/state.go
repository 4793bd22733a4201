package hub

import (
	"time"

	"orchestrator/thread"
)

// Status is what a server is doing.
type Status string

// The statuses. Disabled is the Controller's: the hub knows nothing of switches.
const (
	Disabled    Status = "disabled"
	Unapproved  Status = "unapproved"
	Cold        Status = "cold" // not running; the next call starts it
	Starting    Status = "starting"
	Ready       Status = "ready"
	Busy        Status = "busy"
	Degraded    Status = "degraded" // it has not answered a probe
	Backoff     Status = "backoff"  // it has ended; it is started at Next if it is called
	Failed      Status = "failed"   // it has ended too often
	NeedsAuth   Status = "needs-auth"
	NeedsInput  Status = "needs-input"
	Quarantined Status = "quarantined"
)

// State is a server as the panel shows it.
type State struct {
	Hash   string
	Thread thread.ID // of a server that is not shared
	Status Status
	Reason string   // why it is not ready, or what is wrong
	Log    []string // the last lines that it printed, if it has ended or failed

	PID      int
	Starts   int
	InFlight int // calls
	Calls    int
	LastCall time.Time
	LastTook time.Duration
	Bytes    int64     // resident memory of its processes; States only
	Next     time.Time // when it is started again at the earliest
}
