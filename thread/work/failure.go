package work

import (
	"time"

	"orchestrator/thread"
)

// Failure is why an attempt of an execution failed.
type Failure struct {
	Class Class `json:"class,omitempty"`
	Code  Code  `json:"code,omitempty"`
	// What says for people what happened, Do what they can do about it.
	What string    `json:"what,omitempty"`
	Do   string    `json:"do,omitempty"`
	At   time.Time `json:"at,omitzero"`
	// State is what trouble it was, Status the provider's HTTP status if there was one, and Until when a limit ends.
	State  thread.State `json:"state,omitempty"`
	Status int          `json:"status,omitempty"`
	Until  time.Time    `json:"until,omitzero"`
}

// Class is whose failure it is.
type Class string

// The classes.
const (
	ClassTransport Class = "transport" // the way to the provider, or the provider: the same again may help
	ClassAgent     Class = "agent"     // the agent or its model: the same again may do the same damage twice
	ClassOurs      Class = "ours"      // this program or this machine
)

// Code is the code of a failure in the seeds' catalogue.
type Code string

// The codes.
const (
	CodeContext     Code = "ORG-001" // missing context: a folder, a file or a session is not there
	CodeUnclear     Code = "ORG-002" // ambiguous requirements: a question that nobody answered
	CodeAgent       Code = "ORG-003" // the agent failed
	CodeOverflow    Code = "ORG-004" // the context or a budget is used up
	CodeValidation  Code = "ORG-005" // what it did is not what it may do
	CodeSynthesis   Code = "ORG-006" // results contradict each other
	CodeIntegration Code = "ORG-007" // the provider, the network, the store or a server is not there
	CodePerformance Code = "ORG-008" // time, calls or output are used up
)

// OnFail is what follows by itself on a failure.
type OnFail string

// The policies. Failures of transport are tried again in each of them but FailAsk.
const (
	FailAsk      OnFail = "ask"      // nothing: a person decides
	FailRetry    OnFail = "retry"    // one more attempt after a failure of the agent, then a person decides
	FailWait     OnFail = "wait"     // transport is tried again, also after a limit's end; else a person decides
	FailFallback OnFail = "fallback" // as FailWait; what cannot be waited for is done by the fallback
)
