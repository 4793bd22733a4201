package thread

import (
	"time"
)

// State is what a thread's agent is doing, as far as the evidence says.
type State string

// The states, from the ones that need a person to the ones that do not.
const (
	StateApproval     State = "approval"     // waits for the person to allow something
	StateQuestion     State = "question"     // asked the person something
	StateDone         State = "done"         // answered, and nobody has looked yet
	StateUnauthorised State = "unauthorised" // the provider refused the credentials (401, 403)
	StateLimited      State = "limited"      // rate limit, quota or overload (402, 429, 529)
	StateUnavailable  State = "unavailable"  // the provider failed (5xx, an answer that is none)
	StateUnreachable  State = "unreachable"  // no connection to the provider (dial, DNS, TLS)
	StateCut          State = "cut"          // the provider broke its answer off
	StateFailed       State = "failed"       // the request was wrong, or the agent reports an error of its own
	StateSilent       State = "silent"       // the provider has not begun to answer for a while
	StateInterrupted  State = "interrupted"  // its process was killed, or ended in the middle of a turn: can be resumed
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

// Trouble reports whether a turn cannot go on: a request was refused, broken off, or wrong.
func (s State) Trouble() bool {
	switch s {
	case StateUnauthorised, StateLimited, StateUnavailable, StateUnreachable, StateCut, StateFailed:
		return true
	default:
		return false
	}
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
	// SourcePrompt tells of a prompt without an answer; it speaks for no state.
	SourcePrompt Source = "prompt"
)

// Evidence is one observation that speaks for a state.
type Evidence struct {
	Source Source    `json:"source"`
	State  State     `json:"state"`
	Detail string    `json:"detail"` // for people: "answered, stop reason stop", "asks for permission"
	At     time.Time `json:"at"`
	// Began is set where it tells of an end: when that began which ended, a response's request.
	Began time.Time `json:"began,omitzero"`
	// Until is when a limit ends, as far as the provider said so. Its clock is the wall's.
	Until time.Time `json:"until,omitzero"`
	// Prompt is set where the agent has just taken a prompt.
	Prompt bool `json:"prompt,omitempty"`
	// Again is set for a request that repeats the one before it, which had failed.
	Again bool `json:"again,omitempty"`
	// Answers is set where the answer to a request has begun without an error.
	Answers bool `json:"answers,omitempty"`
}

// StateReport is a thread's state with what speaks for it, newest evidence per source,
// the deciding one first.
type StateReport struct {
	State    State      `json:"state"`
	Since    time.Time  `json:"since"`
	Evidence []Evidence `json:"evidence,omitempty"`
	// Until is when a limit ends, zero where that is not known.
	Until time.Time `json:"until,omitzero"`
	// Retrying is set in trouble while the agent tries again by itself.
	Retrying bool `json:"retrying,omitempty"`
	// Stuck is set in trouble once the agent has given up: nothing goes on until a person acts.
	Stuck bool `json:"stuck,omitempty"`
	// Screen is the last lines of a process that failed. Only Why tells it.
	Screen string `json:"screen,omitempty"`
	// Notes are what else a person should know about the thread. Only Why tells them.
	Notes []string `json:"notes,omitempty"`
}

// More says for people what is known beside the state, as words that follow it: " until 14:30, retrying".
func (r StateReport) More() string {
	more := ""
	if until := r.Until.Local(); !r.Until.IsZero() {
		format := "15:04"
		if until.Sub(r.Since) > 12*time.Hour {
			format = "Jan 2 15:04"
		}
		more = " until " + until.Format(format)
	}
	switch {
	case r.Retrying:
		more += ", retrying"
	case r.Stuck:
		more += ", gave up"
	}
	return more
}

// NeedsPerson reports whether nothing goes on until a person acts.
func (r StateReport) NeedsPerson() bool { return r.State.NeedsPerson() || r.Stuck }

// Works reports whether the agent is in the middle of a turn that goes on by itself.
func (r StateReport) Works() bool {
	return r.State == StateWorking || r.State == StateSilent || r.Retrying
}

// Same reports whether two reports tell people the same, whatever speaks for it and since when.
func (r StateReport) Same(as StateReport) bool {
	return r.State == as.State && r.Until.Equal(as.Until) && r.Retrying == as.Retrying && r.Stuck == as.Stuck
}

// Why returns what decided, for people; empty when nothing is known.
func (r StateReport) Why() string {
	if len(r.Evidence) == 0 {
		return ""
	}
	return r.Evidence[0].Detail
}
