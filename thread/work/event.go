package work

import (
	"time"
)

// Event is a line in the record of an execution. It is written once and never changed.
type Event struct {
	Seq     int64     `json:"seq"` // in the execution, from 1, without gaps; set by the store
	At      time.Time `json:"at"`
	Attempt int       `json:"attempt"`
	// State is set if the execution went into it.
	State State `json:"state,omitempty"`
	// Kind and Text are of what an agent reported, as in thread.RunEvent, or Kind is "note" for a remark of ours, KindGiven
	// or KindSaid. Text is without secrets, and an excerpt but for the last two.
	Kind string `json:"kind,omitempty"`
	Text string `json:"text,omitempty"`
}

// The kinds of events that have a text in full: at most 1 MB of it.
const (
	KindGiven = "given" // all that an execution was asked; Execution.Given has the number of the newest
	KindSaid  = "said"  // its whole final message; Execution.Said has the number of the newest
)
