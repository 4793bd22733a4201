package thread

import (
	"fmt"
	"slices"
)

// Status is a thread with its current state, as clients show it.
type Status struct {
	Thread
	// Seq is the number of the newest event when this was current: of two statuses of a thread from one run of a server,
	// the one with the larger number is newer, whichever way they arrived.
	Seq int64 `json:"seq,omitempty"`
	// Around is set if its model requests do not come through the gateway: its turns are read from its transcript, and
	// nothing is masked.
	Around bool        `json:"around,omitempty"`
	State  StateReport `json:"state"`
	// Execution is the running process, nil if none runs.
	Execution *Execution `json:"execution,omitempty"`
	// Run is its newest execution; nil if it has none.
	Run *RunStatus `json:"run,omitempty"`
	// LeftOut is what the fork left out whose answer this is.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
	// Environ is with which environment its agent was started; nil for the server's.
	Environ *EnvironUse `json:"environ,omitempty"`
	// Aside is why the running process sends its requests past the gateway, "" if it does not: nothing can be masked
	// then, and answers are read from the agent's transcript.
	Aside string `json:"aside,omitempty"`
	// Resume is what can be resumed; set for interrupted threads.
	Resume *ResumeProof `json:"resume,omitempty"`
	// Offer is the open fork offer, nil if there is none.
	Offer *Offer `json:"offer,omitempty"`
	// Prompts are the thread's unanswered prompts, oldest first, as excerpts: the queued ones, the open one, and those
	// that were interrupted or refused with no answer after them. Only the first few.
	Prompts []Prompt `json:"prompts,omitempty"`
	// Queued is the number of queued prompts.
	Queued int `json:"queued,omitempty"`
	// RunsLines is set if its program may run what is typed into it; see Prompted.
	RunsLines bool `json:"runsLines,omitempty"`
	// Last is what the agent does or last said, on one line, without secrets: a tool that it calls, the first line of its
	// answer. After a restart of the server, what was stored of it last.
	Last string `json:"last,omitempty"`
	// Merging is the branch into which its merge was begun and waits for the person, because of conflicts; "" for none.
	Merging string `json:"merging,omitempty"`
	// Depth is 0 for a thread without a parent.
	Depth int `json:"depth"`
}

// Runs reports whether a thread is shown as a run: its agent works without a terminal, or did so last. While a person has
// taken it over, it is shown like any other thread.
func (s Status) Runs() bool { return s.Once.On && s.Run != nil && !s.TakenOver() }

// TakenOver reports whether a thread whose agent works without a terminal is open in one.
func (s Status) TakenOver() bool { return s.Once.On && s.Execution != nil && !s.Run.Working() }

// Under returns the thread below which lists show this one: that which it was forked from, or whose agent asked for it.
func (s Status) Under() ID {
	if s.Parent == "" && s.Run != nil {
		return s.Run.By
	}
	return s.Parent
}

// Unanswered returns the newest prompt that was interrupted or refused with no answer after it, unless the agent works:
// somebody may want to send it again.
func (s Status) Unanswered() (Prompt, bool) {
	if s.State.State == StateWorking || s.Queued > 0 || s.Runs() { // of a run its execution tells
		return Prompt{}, false
	}
	for _, p := range slices.Backward(s.Prompts) {
		if p.State == PromptOpen || p.State == PromptTyping {
			return Prompt{}, false
		}
		if p.State.Again() {
			return p, true
		}
	}
	return Prompt{}, false
}

// Cost is what a thread has cost so far in USD, side requests included. It is unknown if no price of its models is
// known.
func (s Status) Cost() (usd float64, known bool) {
	usd = max(s.Usage.CostUSD, s.Gauge.CostUSD)
	return usd, s.Usage.Priced || usd > 0
}

// Money is what a thread has cost, for people: "?" stands for what is not known. "" if it has cost nothing.
func (s Status) Money() string {
	usd, known := s.Cost()
	switch {
	case known:
		return Money(usd, s.Usage.Unknown)
	case s.Gauge.Tokens > 0 || s.Usage.Unknown > 0:
		return "?"
	default:
		return ""
	}
}

// SetupProblem describes what is wrong with the setup of the thread's worktree and how to fix it, "" if nothing is.
func (s Status) SetupProblem() string {
	again := fmt.Sprintf("run it again with `orchestrator setup %s`, in the worktree as it is now", s.Name)
	switch s.Setup.State {
	case SetupUnfinished:
		return "its setup did not finish before the server stopped; " + again
	case SetupFailed:
		return fmt.Sprintf("its setup failed: %s; %s", s.Setup.Detail, again)
	default:
		return ""
	}
}

// ResumeProof is the result of checking an interrupted thread.
type ResumeProof struct {
	How        ResumeHow `json:"how"`
	Session    string    `json:"session,omitempty"`
	Turn       int       `json:"turn"`
	Bytes      int64     `json:"bytes"`    // transcript bytes that match the stored chunks
	Detail     string    `json:"detail"`   // for people
	Worktree   string    `json:"worktree"` // "clean", "12 files changed", "missing"
	Incomplete string    `json:"incomplete,omitempty"`
	// Prompts are the unanswered ones, as in Status.
	Prompts []Prompt `json:"prompts,omitempty"`
	// Rebuilt is set if the newest turn was lost from the store and rebuilt from the agent's transcript.
	Rebuilt bool `json:"rebuilt,omitempty"`
}

// ResumeHow ranks the ways to resume a conversation.
type ResumeHow string

// The ways, best first.
const (
	ResumeNative  ResumeHow = "native"  // the agent's own transcript exists and matches
	ResumeRebuilt ResumeHow = "rebuilt" // it is rewritten from stored chunks
	ResumePrimer  ResumeHow = "primer"  // the agent gets a summary of the stored conversation
	ResumeFresh   ResumeHow = "fresh"   // there are no turns yet
)
