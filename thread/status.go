package thread

import "fmt"

// Status is a thread with what is true of it right now; what clients show.
type Status struct {
	Thread
	// Seq is the number of the newest event when this was true: of two statuses of a thread from one run of a server,
	// the one with the larger number is the newer, whichever way they came.
	Seq   int64       `json:"seq,omitempty"`
	State StateReport `json:"state"`
	// Execution is the running process, nil when none runs.
	Execution *Execution `json:"execution,omitempty"`
	// Resume says what can be resumed; set for interrupted threads.
	Resume *ResumeProof `json:"resume,omitempty"`
	// Offer is the fork that is offered and not answered yet, nil when there is none.
	Offer *Offer `json:"offer,omitempty"`
	// Prompts are what the agent was asked and has not answered, oldest first, as excerpts: those that wait, the open
	// one, and those that were interrupted or refused and that no answer followed. The first few of them.
	Prompts []Prompt `json:"prompts,omitempty"`
	// Queued is how many prompts wait to be typed.
	Queued int `json:"queued,omitempty"`
	// Depth is 0 for a thread without a parent.
	Depth int `json:"depth"`
}

// Cost is what a thread has cost so far in USD, side requests included. It is not known where no price of the
// models it used is.
func (s Status) Cost() (usd float64, known bool) {
	usd = max(s.Usage.CostUSD, s.Gauge.CostUSD)
	return usd, s.Usage.Priced || usd > 0
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

// ResumeProof is what was checked about an interrupted thread.
type ResumeProof struct {
	How        ResumeHow `json:"how"`
	Session    string    `json:"session,omitempty"`
	Turn       int       `json:"turn"`
	Bytes      int64     `json:"bytes"`    // transcript bytes that match the stored chunks
	Detail     string    `json:"detail"`   // for people
	Worktree   string    `json:"worktree"` // "clean", "12 files changed", "missing"
	Incomplete string    `json:"incomplete,omitempty"`
	// Prompts are those without an answer, as in Status.
	Prompts []Prompt `json:"prompts,omitempty"`
	// Rebuilt is set when our own record of the newest turn was lost and came back from the agent's transcript.
	Rebuilt bool `json:"rebuilt,omitempty"`
}

// ResumeHow ranks the ways back into a conversation.
type ResumeHow string

// The ways, best first.
const (
	ResumeNative  ResumeHow = "native"  // the agent's own transcript is there and matches
	ResumeRebuilt ResumeHow = "rebuilt" // it is written anew from stored chunks
	ResumePrimer  ResumeHow = "primer"  // a summary from our record is handed over
	ResumeFresh   ResumeHow = "fresh"   // nothing was said yet
)
