package main

import (
	"fmt"

	"orchestrator/thread"
)

// outcome says how following a prompt ended, for programs.
type outcome string

// The outcomes.
const (
	isAnswered    outcome = "answered"
	isTaken       outcome = "taken"       // the agent has it, and nothing tells of an answer
	isWaiting     outcome = "waits"       // the agent waits for the person
	isQueued      outcome = "queued"      // it was not typed in time, or its agent does not run
	isLate        outcome = "timeout"     // the agent has not answered in time, and goes on
	isInterrupted outcome = "interrupted" // cut off before it was answered
	isRefused     outcome = "refused"     // the agent or its provider did not take it
	isCancelled   outcome = "cancelled"   // withdrawn before it was typed
	isGone        outcome = "gone"        // the server, or the thread, went away
)

// answer is what follow prints with --json.
type answer struct {
	Thread     string             `json:"thread"`
	Prompt     thread.PromptID    `json:"prompt"`
	Outcome    outcome            `json:"outcome"`
	Reason     string             `json:"reason,omitempty"`
	Answer     string             `json:"answer"`
	State      thread.State       `json:"state"`
	Turn       int                `json:"turn,omitempty"`
	Checkpoint *thread.Checkpoint `json:"checkpoint,omitempty"`
}

// exit is the exit code that an outcome has.
func (a answer) exit() int {
	switch a.Outcome {
	case isAnswered, isTaken:
		return exitOK
	case isWaiting, isQueued, isCancelled:
		return exitRefused
	default:
		return exitAgent
	}
}

// words says to people how it ended; "" where the answer says it all.
func (a answer) words() string {
	why := ""
	if a.Reason != "" {
		why = ": " + a.Reason
	}
	switch a.Outcome {
	case isAnswered:
		return ""
	case isTaken:
		return fmt.Sprintf("%s has prompt %s%s", a.Thread, a.Prompt, why)
	case isWaiting:
		return fmt.Sprintf("%s waits for you (%s): `orchestrator attach %s`; prompt %s goes on then", a.Thread, a.State,
			a.Thread, a.Prompt)
	case isQueued:
		return fmt.Sprintf("prompt %s of %s is queued and not typed yet%s; `orchestrator prompts cancel %s` withdraws it", a.Prompt, a.Thread, why, a.Prompt)
	case isLate:
		return fmt.Sprintf("%s has not finished in time (%s) and goes on: `orchestrator attach %s` shows it", a.Thread,
			a.State, a.Thread)
	case isCancelled:
		return fmt.Sprintf("prompt %s of %s was cancelled before it was typed", a.Prompt, a.Thread)
	case isGone:
		return fmt.Sprintf("prompt %s of %s cannot be followed%s; `orchestrator prompts %s` says what became of it",
			a.Prompt, a.Thread, why, a.Thread)
	default:
		return fmt.Sprintf("%s did not finish: prompt %s was %s%s; `orchestrator prompts again %s` sends it again",
			a.Thread, a.Prompt, a.Outcome, why, a.Prompt)
	}
}
