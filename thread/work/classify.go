package work

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"orchestrator/thread"
)

// Cause is why an attempt failed where that was decided here, and not by its agent or the provider.
type Cause string

// The causes.
const (
	CauseOwn      Cause = ""         // its process ended by itself
	CauseStart    Cause = "start"    // its process could not be started
	CausePrompt   Cause = "prompt"   // its process did not take the prompt, or there is none
	CauseDeadline Cause = "deadline" // its time was over
	CauseOutput   Cause = "output"   // it printed, or used, more than it may
	CauseCalls    Cause = "calls"    // it made more calls than it may
	CauseBudget   Cause = "budget"   // a budget is used up
	CauseChanged  Cause = "changed"  // it changed what it may only read
	CauseAsked    Cause = "asked"    // it would have asked, and nobody could answer
	CauseDied     Cause = "died"     // its server or its process died
)

// Ending is what is known about a failed attempt.
type Ending struct {
	Cause  Cause
	Reason string // for people
	// State and Status are the trouble that its program told of, and Refused how many calls were refused because nobody
	// could be asked.
	State   thread.State
	Status  int
	Refused int
	Exit    thread.Exit
	// Provider is how the newest request of its agent ended, the zero value if it was answered or none was seen.
	Provider Provider
	Err      error // of CauseStart
}

// Provider is how a request to the provider failed.
type Provider struct {
	State  thread.State
	Status int
	Fault  thread.Fault
	Until  time.Time // when a limit ends, if that was told
	Why    string    // of thread.FaultOurs, for people
}

// Classify says whose failure an attempt's end is, and what a person can do about it. It is the one place where that is
// decided, so that lists, retries, the breaker and the inbox agree.
func Classify(e Ending, at time.Time) Failure {
	f := e.kind()
	f.What, f.At = cmp.Or(f.What, e.Reason, "it failed"), at
	return f
}

func (e Ending) kind() Failure {
	switch e.Cause {
	case CauseDeadline:
		return Failure{Class: ClassAgent, Code: CodePerformance,
			Do: "give it more time with --deadline or runs.deadline, or ask for less"}
	case CauseOutput:
		return Failure{Class: ClassAgent, Code: CodePerformance, Do: "see what it printed, and ask for less at once"}
	case CauseCalls:
		return Failure{Class: ClassAgent, Code: CodePerformance, Do: "read what it reports, and ask for what is missing"}
	case CauseBudget:
		return Failure{Class: ClassAgent, Code: CodeOverflow, Do: "raise the budget, then retry it"}
	case CauseChanged:
		return Failure{Class: ClassAgent, Code: CodeValidation, Do: "see its record for what was changed"}
	case CauseAsked:
		return Failure{Class: ClassAgent, Code: CodeUnclear, Do: "answer in the prompt what it would have asked, or let it wait for you"}
	case CausePrompt:
		return Failure{Class: ClassOurs, Code: CodeContext, Do: "ask again"}
	case CauseDied:
		return Failure{Class: ClassOurs, Code: CodeIntegration, Do: "look at what is already done, then retry it"}
	case CauseStart:
		return e.unstarted()
	default:
	}
	if e.Exit.Limit {
		return Failure{Class: ClassAgent, Code: CodePerformance, What: e.Exit.Reason, Do: "see what it printed, and ask for less at once"}
	}
	if e.Provider.Fault == thread.FaultOurs {
		return e.unsent()
	}
	if f, is := e.trouble(); is {
		return f
	}
	if e.Refused > 0 {
		return Failure{Class: ClassAgent, Code: CodeUnclear, State: e.State, Do: "allow in its rules or its prompt what was refused, then retry it"}
	}
	return Failure{Class: ClassAgent, Code: CodeAgent, State: e.State, Status: e.Status,
		Do: "read its last words with `orchestrator exec logs`, then retry it or ask in another way"}
}

// unstarted classifies why a process was not started.
func (e Ending) unstarted() Failure {
	switch {
	case errors.Is(e.Err, thread.ErrUnreachable), thread.IsDiskFull(e.Err):
		return Failure{Class: ClassOurs, Code: CodeIntegration, Do: "see `orchestrator doctor`"}
	case errors.Is(e.Err, thread.ErrLimit):
		return Failure{Class: ClassOurs, Code: CodePerformance, Do: "end what is not needed, then retry it"}
	default: // a folder, a program or a session is missing, or it may not be started
		return Failure{Class: ClassOurs, Code: CodeContext, Do: "see `orchestrator doctor`, then retry it"}
	}
}

// unsent classifies a request that the gateway has refused: the provider never got it, and whatever the program reports is
// said of us.
func (e Ending) unsent() Failure {
	f := Failure{Class: ClassAgent, Code: CodeOverflow, What: e.Provider.Why}
	switch e.Provider.Status {
	case http.StatusPaymentRequired:
		f.Do = "raise the budget, then retry it"
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		f.Class, f.Code, f.Do = ClassOurs, CodePerformance, "raise that limit in your configuration, then retry it"
	default: // its context is full
		f.Do = "ask for less, or in a new thread"
	}
	return f
}

// trouble classifies a failure on the way to the model, or in what the model was asked; false if it is none. What the
// gateway has seen counts more than what a program reports.
func (e Ending) trouble() (Failure, bool) {
	p := e.Provider
	switch {
	case p.Fault == thread.FaultAgent && p.Status == 0: // it gave up waiting
		p.State = thread.StateUnavailable
	case !p.State.Trouble():
		p = Provider{State: cmp.Or(e.State, thread.TroubleOf(e.Status)), Status: e.Status}
	}
	f := Failure{Class: ClassTransport, Code: CodeIntegration, State: p.State, Status: p.Status, Until: p.Until}
	const retry = "then retry it"
	switch p.State {
	case thread.StateUnauthorised:
		f.What, f.Do = "the provider refuses the login", "sign in to the agent, "+retry
	case thread.StateLimited:
		switch {
		case p.Status == http.StatusPaymentRequired:
			f.What, f.Do = "the provider wants to be paid", "see your account there, "+retry
		case p.Status == statusOverloaded:
			f.What, f.Do = "the provider is overloaded", "wait a while, "+retry
		default:
			f.What, f.Do = "a limit of the provider is reached", "wait until it ends, "+retry
		}
	case thread.StateUnavailable:
		f.What, f.Do = "the provider fails", "wait a while, "+retry
		if p.Status == 0 {
			f.What = "the provider does not answer"
		}
	case thread.StateUnreachable:
		f.What, f.Do = "the provider cannot be reached", "look at your network, "+retry
	case thread.StateCut:
		f.What, f.Do = "the provider cut off its answer", retry[len("then "):]
	case thread.StateFailed:
		return e.rejected(f)
	default:
		return Failure{}, false
	}
	if p.Status >= 300 {
		f.What += fmt.Sprintf(" (%d)", p.Status)
	}
	return f, true
}

// rejected classifies a request that the provider took for wrong; false if the agent reports an error of its own.
func (e Ending) rejected(f Failure) (Failure, bool) {
	f.Class, f.Code = ClassAgent, CodeAgent
	switch {
	case f.Status == http.StatusRequestEntityTooLarge:
		f.Code, f.Do = CodeOverflow, "ask for less, or in a new thread"
		f.What = "what it sends is too large for the provider (413): " + e.Reason
	case f.Status >= 300:
		f.What, f.Do = fmt.Sprintf("the provider takes its request for wrong (%d): %s", f.Status, e.Reason), "see why with `orchestrator exec logs`, then retry it"
	default:
		return f, false
	}
	return f, true
}

// statusOverloaded is what providers answer who have too much to do.
const statusOverloaded = 529

// Passes reports whether the same again may help, once some time has passed.
func (f Failure) Passes() bool {
	if f.Class != ClassTransport || f.State == thread.StateUnauthorised {
		return false
	}
	switch s := f.Status; {
	case s == 0, s >= 500, s == http.StatusRequestTimeout, s == http.StatusTooManyRequests:
		return true
	case s >= 200 && s < 300: // the failure came in the place of an answer, or cut it off
		return true
	default:
		return false
	}
}

// Redoes reports whether another attempt may do better that knows of the failure.
func (f Failure) Redoes() bool {
	return f.Class == ClassAgent && (f.Code == CodeAgent || f.Code == CodeOverflow && f.Status != 0)
}
