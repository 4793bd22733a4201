package turns

import "time"

// Verdict is what becomes of a prompt that its agent took.
type Verdict string

// The verdicts.
const (
	Wait        Verdict = ""            // nothing yet
	Taken       Verdict = "taken"       // the agent dealt with it itself
	Interrupted Verdict = "interrupted" // it was stopped before the model answered
	Refused     Verdict = "refused"     // nothing was asked of the model
)

// How long an agent must be at rest before something is said of a prompt that it took and has not answered: after
// requests of its model, after a command of its own, and when nothing at all came of it.
const (
	AfterRequest = 2 * time.Second
	AfterCommand = 3 * time.Second
	AfterNothing = 20 * time.Second
)

// Resting is an agent that took a prompt and waits for the next one.
type Idle struct {
	For      time.Duration // how long it has waited without a break
	Text     string        // the prompt
	Requests int           // of its model since it took the prompt, none of them answered
	Failure  string        // how the last of them failed, empty when it was given up
}

// Rest judges the prompt, with the reason for people and how much longer to wait for a verdict.
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
		return Refused, "the model was not reached: " + i.Failure, 0
	case i.Requests > 0:
		return Interrupted, "stopped before the model answered", 0
	case Command(i.Text):
		return Taken, "a command that the agent carries out itself", 0
	default:
		return Refused, "the agent waits again and asked nothing of its model", 0
	}
}
