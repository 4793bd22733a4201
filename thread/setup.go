package thread

import (
	"fmt"
)

// SetupState is how far the setup of a thread's worktree is.
type SetupState string

// The states. Of a worktree that is ready there is none.
const (
	SetupRuns   SetupState = "running"
	SetupFailed SetupState = "failed"
	// SetupUnfinished is that of one that was running when its server ended. It is never stored: what is stored as
	// running, and is not, is unfinished.
	SetupUnfinished SetupState = "unfinished"
)

// Setup says how far the setup of a worktree is.
type Setup struct {
	State  SetupState `json:"state,omitempty"`
	Detail string     `json:"detail,omitempty"` // why it failed
}

// SetupProblem says what is wrong with the setup of the thread's worktree and what to do about it, "" where nothing is.
func (s Status) SetupProblem() string {
	again := fmt.Sprintf("`orchestrator setup %s` runs it again, in the worktree as it is now", s.Name)
	switch s.Setup.State {
	case SetupUnfinished:
		return "its setup did not finish: the server ended before it did; " + again
	case SetupFailed:
		return fmt.Sprintf("its setup failed: %s; %s", s.Setup.Detail, again)
	default:
		return ""
	}
}
