package thread

import (
	"cmp"
	"fmt"
	"time"

	"orchestrator/thread/plaintext"
)

// RunStatus is the newest execution of a thread that runs without a terminal, as lists show it. Package work has the
// states.
type RunStatus struct {
	Execution string `json:"execution"` // its name
	State     string `json:"state"`
	Reason    string `json:"reason,omitempty"` // why it waits, failed, or was cancelled
	// By is the thread whose agent asked for it, "" for the person.
	By ID `json:"by,omitempty"`
	// Asks is set while one of its thread waits for a person to agree that it starts: the state of the thread has the question.
	Asks     bool `json:"asks,omitempty"`
	ReadOnly bool `json:"readOnly,omitempty"`
	Attempt  int  `json:"attempt,omitempty"`
	// Tier, Model and Chosen are as in work.Execution.
	Tier   Tier   `json:"tier,omitempty"`
	Model  string `json:"model,omitempty"`
	Chosen string `json:"chosen,omitempty"`
	// Calls is how many calls of tools it has made, of MaxCalls, which is 0 for no bound; Rereads of them read a file that was
	// read before.
	Calls    int `json:"calls,omitempty"`
	MaxCalls int `json:"maxCalls,omitempty"`
	Rereads  int `json:"rereads,omitempty"`
	// Gap is what is missing, in the agent's words, if it was stopped at its bound.
	Gap     string    `json:"gap,omitempty"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	// Code is the code of its failure and Do what the person can do about it, SignIn is set if that is to sign in, and
	// Fallback what may take its place, as it is configured, "" for nothing. Instead is the id of the execution that has.
	Code     string `json:"code,omitempty"`
	Do       string `json:"do,omitempty"`
	SignIn   bool   `json:"signIn,omitempty"`
	Fallback string `json:"fallback,omitempty"`
	Instead  string `json:"instead,omitempty"`
	// Again is when it is tried again, Try the number of that attempt among those that follow on each other because the way to
	// its model fails.
	Again time.Time `json:"again,omitzero"`
	Try   int       `json:"try,omitempty"`
}

// Word is the name of its state, for people.
func (r *RunStatus) Word() string {
	switch {
	case r == nil:
		return ""
	case r.State == "needs_input":
		return "needs you"
	case r.Asks:
		return "proceed?"
	default:
		return r.State
	}
}

// Waiting reports whether it is queued.
func (r *RunStatus) Waiting() bool { return r != nil && r.State == "queued" }

// Working reports whether it has a process, or is about to.
func (r *RunStatus) Working() bool {
	return r != nil && (r.State == "deployed" || r.State == "running" || r.State == "needs_input")
}

// Over reports whether it has ended.
func (r *RunStatus) Over() bool { return r != nil && !r.Waiting() && !r.Working() }

// SayCalls says how many calls of tools a run has made, of how many, 0 or less for no bound, and how many of them read a
// file again.
func SayCalls(made, most, again int) string {
	text := fmt.Sprintf("%d, without a bound", made)
	if most > 0 {
		text = fmt.Sprintf("%d of %d", made, most)
	}
	if again > 0 {
		text += ", " + plaintext.Count(again, "file") + " read again"
	}
	return text
}

// SayModel says which model a run has, "" for the agent's own, and why.
func SayModel(model, why string) string {
	if model == "" || why == "" {
		return cmp.Or(model, why)
	}
	return model + " (" + why + ")"
}

// RunPiece is something new about an execution, for clients that follow it: what its agent reports, or a change of its
// state.
type RunPiece struct {
	Execution string `json:"execution"` // its name
	Attempt   int    `json:"attempt,omitempty"`
	// Event is what the agent reported, nil for a change of state.
	Event *RunEvent `json:"event,omitempty"`
	// State and Reason are those of the execution from now on, "" if only Event is new.
	State  string `json:"state,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Missed is how many pieces were dropped before this one because the reader was slow.
	Missed int `json:"missed,omitempty"`
}
