package thread

import (
	"time"
)

// State is what a thread's agent is doing, according to the evidence.
type State string

// The states, from the ones that need a person to the ones that do not.
const (
	StateApproval     State = "approval"     // waits for permission
	StateQuestion     State = "question"     // asked a question
	StateDone         State = "done"         // answered, and nobody has looked yet
	StateUnauthorised State = "unauthorised" // the provider refused the credentials (401, 403)
	StateLimited      State = "limited"      // rate limit, quota or overload (402, 429, 529)
	StateUnavailable  State = "unavailable"  // the provider failed (5xx, or not a model's answer)
	StateUnreachable  State = "unreachable"  // no connection to the provider (dial, DNS, TLS)
	StateCut          State = "cut"          // the provider cut off its answer
	StateFailed       State = "failed"       // the request was invalid, or the agent reports an error of its own
	StateSilent       State = "silent"       // the provider has not started to answer for a while
	StateInterrupted  State = "interrupted"  // its process was killed, or exited in the middle of a turn: can be resumed
	StateStarting     State = "starting"     // process started, nothing known yet
	StateWorking      State = "working"      // a request or a tool is running
	StateIdle         State = "idle"         // waits for a prompt, seen
	StateUnknown      State = "unknown"      // no evidence either way
	StateExited       State = "exited"       // its process exited by itself or was stopped
)

// NeedsPerson reports whether nothing continues until a person acts.
func (s State) NeedsPerson() bool {
	return s == StateApproval || s == StateQuestion || s == StateUnauthorised
}

// Trouble reports whether a turn cannot continue: a request was refused, cut off, or invalid.
func (s State) Trouble() bool {
	switch s {
	case StateUnauthorised, StateLimited, StateUnavailable, StateUnreachable, StateCut, StateFailed:
		return true
	default:
		return false
	}
}

// Word is the name of a state, for people.
func (s State) Word() string {
	switch s {
	case StateApproval:
		return "needs approval"
	case StateQuestion:
		return "asks a question"
	case StateCut:
		return "cut off"
	case StateSilent:
		return "no answer yet"
	case StateExited:
		return "not running"
	case "":
		return "not started"
	default:
		return string(s)
	}
}

// Live reports whether the state is that of a running process.
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
	// SourceTranscript replaces the gateway for a thread that runs without it.
	SourceTranscript Source = "transcript"
	SourceHook       Source = "hook"    // the agent's own hooks and OSC 7501 reports
	SourceScreen     Source = "screen"  // rules over the live lines of the screen
	SourceSilence    Source = "silence" // no output for a while
	// SourcePrompt is for an unanswered prompt; it is not evidence of a state.
	SourcePrompt Source = "prompt"
)

// Evidence is one observation about a state.
type Evidence struct {
	Source Source    `json:"source"`
	State  State     `json:"state"`
	Detail string    `json:"detail"` // for people: "answered, stop reason stop", "asks for permission"
	At     time.Time `json:"at"`
	// Began is set for the end of something: when that started, such as a response's request.
	Began time.Time `json:"began,omitzero"`
	// Until is when a limit ends, if the provider reported it, in wall-clock time.
	Until time.Time `json:"until,omitzero"`
	// Prompt is set if the agent has just taken a prompt.
	Prompt bool `json:"prompt,omitempty"`
	// Again is set for a request that repeats the previous one, which had failed.
	Again bool `json:"again,omitempty"`
	// Answers is set if the answer to a request has started without an error.
	Answers bool `json:"answers,omitempty"`
}

// StateReport is a thread's state with its evidence, the newest per source, the deciding one first.
type StateReport struct {
	State    State      `json:"state"`
	Since    time.Time  `json:"since"`
	Evidence []Evidence `json:"evidence,omitempty"`
	// Until is when a limit ends, zero if unknown.
	Until time.Time `json:"until,omitzero"`
	// Retrying is set in trouble while the agent retries by itself.
	Retrying bool `json:"retrying,omitempty"`
	// Stuck is set in trouble once the agent has given up: nothing continues until a person acts.
	Stuck bool `json:"stuck,omitempty"`
	// Question is what its dialog asks, nil if that cannot be read.
	Question *Question `json:"question,omitempty"`
	// Screen is the last lines of a failed process. Only Why sets it.
	Screen string `json:"screen,omitempty"`
	// Notes are what else a person should know about the thread. Only Why sets them.
	Notes []string `json:"notes,omitempty"`
}

// More describes the state further, as words that follow it: " until 14:30, retrying".
func (r StateReport) More() string {
	more := ""
	if until := r.Until.Local(); !r.Until.IsZero() {
		format := "15:04"
		switch left := until.Sub(r.Since); {
		case left > 12*time.Hour:
			format = "Jan 2 15:04"
		case left < 5*time.Minute: // else it is over when it is read
			format = time.TimeOnly
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

// NeedsPerson reports whether nothing continues until a person acts.
func (r StateReport) NeedsPerson() bool { return r.State.NeedsPerson() || r.Stuck }

// State returns the state of an agent that waits for the answer to a question of a kind.
func (k QuestionKind) State() State {
	if k == QuestionChoice || k == QuestionLogin {
		return StateQuestion
	}
	return StateApproval
}

// Works reports whether the agent is in the middle of a turn that continues by itself.
func (r StateReport) Works() bool {
	return r.State == StateWorking || r.State == StateSilent || r.Retrying
}

// Same reports whether two reports look the same to people, whatever their evidence and since when.
func (r StateReport) Same(as StateReport) bool {
	return r.State == as.State && r.Until.Equal(as.Until) && r.Retrying == as.Retrying && r.Stuck == as.Stuck &&
		r.Question.id() == as.Question.id()
}

// Why returns the deciding evidence, for people; "" if there is none.
func (r StateReport) Why() string {
	if len(r.Evidence) == 0 {
		return ""
	}
	return r.Evidence[0].Detail
}

// TroubleOf returns the state that a provider's HTTP status leads to, "" for one that is no trouble or for 0.
func TroubleOf(status int) State {
	switch {
	case status == 401 || status == 403:
		return StateUnauthorised
	case status == 429 || status == 529 || status == 402:
		return StateLimited
	case status >= 500 || status == 408:
		return StateUnavailable
	case status >= 300:
		return StateFailed
	default:
		return ""
	}
}
