package thread

import "time"

// State is what a thread's agent is doing, as far as the evidence says.
type State string

// The states, from the ones that need a person to the ones that do not.
const (
	StateApproval     State = "approval"     // waits for the person to allow something
	StateQuestion     State = "question"     // asked the person something
	StateDone         State = "done"         // answered, and nobody has looked yet
	StateUnauthorised State = "unauthorised" // the provider refused the credentials (401, 403)
	StateLimited      State = "limited"      // rate limit or quota (429, 529)
	StateUnavailable  State = "unavailable"  // the provider does not answer (5xx, network)
	StateInterrupted  State = "interrupted"  // its process ended without us: can be resumed
	StateStarting     State = "starting"     // process started, nothing known yet
	StateWorking      State = "working"      // a request or a tool is running
	StateIdle         State = "idle"         // waits for a prompt, seen
	StateUnknown      State = "unknown"      // silence: no evidence either way
	StateExited       State = "exited"       // its process ended by itself or by us
)

// NeedsPerson reports whether nothing goes on until a person acts.
func (s State) NeedsPerson() bool {
	return s == StateApproval || s == StateQuestion || s == StateUnauthorised
}

// Live reports whether the state belongs to a running process.
func (s State) Live() bool {
	switch s {
	case StateExited, StateInterrupted, "":
		return false
	default:
		return true
	}
}

// Source ranks evidence: a higher one wins over a lower one of the same age.
type Source string

// The sources, best first.
const (
	SourceProcess Source = "process" // start and end of the process itself
	SourceGateway Source = "gateway" // the model requests we carry
	// SourceTranscript stands in for the gateway where a thread runs without it.
	SourceTranscript Source = "transcript"
	SourceHook       Source = "hook"    // the agent's own hooks and OSC 7501 reports
	SourceScreen     Source = "screen"  // rules over the live lines of the screen
	SourceSilence    Source = "silence" // nothing heard for a while
)

// Evidence is one observation that speaks for a state.
type Evidence struct {
	Source Source    `json:"source"`
	State  State     `json:"state"`
	Detail string    `json:"detail"` // for people: "stop reason end_turn", "hook PermissionRequest: Bash"
	At     time.Time `json:"at"`
	// Began is set where it tells of an end: when that began which ended, a response's request.
	Began time.Time `json:"began,omitzero"`
}

// StateReport is a thread's state with what speaks for it, newest evidence per source,
// the deciding one first.
type StateReport struct {
	State    State      `json:"state"`
	Since    time.Time  `json:"since"`
	Evidence []Evidence `json:"evidence,omitempty"`
}

// Why returns what decided, for people; empty when nothing is known.
func (r StateReport) Why() string {
	if len(r.Evidence) == 0 {
		return ""
	}
	return r.Evidence[0].Detail
}
