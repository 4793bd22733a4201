package turns

import "time"

// Verdict is the outcome of a prompt that its agent took.
type Verdict string

// The verdicts.
const (
	Wait        Verdict = ""            // nothing yet
	Taken       Verdict = "taken"       // the agent handled it itself
	Interrupted Verdict = "interrupted" // it was stopped before the model answered
	Refused     Verdict = "refused"     // the model was not asked
)

// How long an agent must be idle before a prompt that it took and has not answered is judged: after model requests,
// after a command of its own, and if nothing happened at all.
const (
	AfterRequest = 2 * time.Second
	AfterCommand = 3 * time.Second
	AfterNothing = 20 * time.Second
)

// Idle describes an agent that took a prompt and waits for the next one.
type Idle struct {
	For      time.Duration // how long it has waited without interruption
	Text     string        // the prompt
	Requests int           // to its model since it took the prompt, none of them answered
	Failure  string        // how the last of them failed, "" if it was cancelled
	Unseen   bool          // its requests do not come through the gateway: that there were none says nothing
}

// Judge judges the prompt, with the reason for people and how long to wait for a verdict.
func Judge(i Idle) (v Verdict, reason string, wait time.Duration) {
	limit := AfterNothing
	switch {
	case i.Requests > 0:
		limit = AfterRequest
	case Command(i.Text):
		limit = AfterCommand
	}
	switch {
	case i.For < limit:
		return Wait, "", limit - i.For
	case i.Requests > 0 && i.Failure != "":
		return Refused, "model request failed: " + i.Failure, 0
	case i.Requests > 0:
		return Interrupted, "stopped before the model answered", 0
	case Command(i.Text):
		return Taken, "a command that the agent handles itself", 0
	case i.Unseen:
		return Refused, "the agent is idle, and there is no answer in its transcript", 0
	default:
		return Refused, "the agent is idle and did not ask its model", 0
	}
}
