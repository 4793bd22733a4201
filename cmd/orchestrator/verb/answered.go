package verb

import (
	"fmt"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// outcome is how following a prompt ended, for programs.
type outcome string

// The outcomes.
const (
	isAnswered    outcome = "answered"
	isTaken       outcome = "taken"       // the agent has it, and nothing reports an answer
	isWaiting     outcome = "waits"       // the agent waits for the user
	isQueued      outcome = "queued"      // it was not typed in time, or its agent is not running
	isLate        outcome = "timeout"     // the agent has not answered in time and keeps running
	isInterrupted outcome = "interrupted" // cut off before it was answered
	isRefused     outcome = "refused"     // the agent or its provider rejected it
	isCancelled   outcome = "cancelled"   // withdrawn before it was typed
	isMoved       outcome = "moved"       // it goes on in a fork, which is followed
	isGone        outcome = "gone"        // the server or the thread went away
)

// answer is what run and send print with --json.
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

// exit returns the exit code for the outcome.
func (a answer) exit() int {
	switch a.Outcome {
	case isAnswered, isTaken:
		return exitcode.OK
	case isWaiting, isQueued, isCancelled:
		return exitcode.Refused
	default:
		return exitcode.Agent
	}
}

// words describes the outcome for people; it is "" if the answer says it all.
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
		return fmt.Sprintf("%s waits for you (%s). Answer it: `orchestrator attach %s`; prompt %s continues after that",
			a.Thread, a.State, a.Thread, a.Prompt)
	case isQueued:
		return fmt.Sprintf("prompt %s for %s is not sent yet%s. It goes when the agent is ready; withdraw it: "+
			"`orchestrator prompts cancel %s`", a.Prompt, a.Thread, why, a.Prompt)
	case isLate:
		return fmt.Sprintf("%s has not finished in time (%s) and keeps running. See it: `orchestrator attach %s`",
			a.Thread, a.State, a.Thread)
	case isCancelled:
		return fmt.Sprintf("prompt %s for %s was cancelled before it was sent", a.Prompt, a.Thread)
	case isGone:
		return fmt.Sprintf("lost track of prompt %s for %s%s. See its state: `orchestrator prompts %s`",
			a.Prompt, a.Thread, why, a.Thread)
	default:
		return fmt.Sprintf("%s did not finish: prompt %s was %s%s. Send it again: `orchestrator prompts again %s`",
			a.Thread, a.Prompt, a.Outcome, why, a.Prompt)
	}
}
