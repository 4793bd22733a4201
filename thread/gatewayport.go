package thread

import (
	"context"
	"time"
)

// Gateway carries the model requests of threads.
type Gateway interface {
	// Route opens a route for a thread and returns its secret base URL and the URL for hooks. Routing a thread again gives
	// the same URLs with the new upstreams.
	Route(id ID, spec RouteSpec) (baseURL, hookURL string, err error)
	// Unroute closes it.
	Unroute(ID)
	// Rest tells that the thread's agent has ended: what is in memory for its requests may go.
	Rest(ID)
	// Forget lets go of a thread that is removed for good.
	Forget(ID)
}

// RouteSpec configures a thread's route.
type RouteSpec struct {
	Agent string
	// Upstreams, Windows and Network are those of the agent's World.
	Upstreams map[string]string
	Windows   map[string]int64
	Network   Network
	// Plain is set for a program of which only the requests are known: a small one may answer a prompt as well.
	Plain bool
	// Patient is set for a program that ends where its request is refused: one that comes too early waits a while instead.
	Patient bool
}

// NotSent begins what an agent is told whose request the gateway does not send, and the Err of such an Exchange.
const NotSent = "orchestrator does not send this request: "

// Exchange is one model request with its response.
type Exchange struct {
	// Main is set for the thread's conversation; false for titles, classifiers, sub-agents, token counting and the agent's
	// own compaction.
	Main bool
	// Purpose is the purpose of a side request: "title", "subagent", "count", "compaction", "summary", "other".
	Purpose string
	// Sub is the sub-agent whose request it is.
	Sub     SubAgent
	Model   string
	Session string // the session id the request named, if any
	Started time.Time
	Ended   time.Time
	Status  int // HTTP status of the response, 0 if there was none
	// Items is the conversation in the request; Answer the response's message, nil if there was none.
	Items  []Item
	Answer *Item
	// Prompt is the text of the person's newest message in Items, and Stale is set if the model has spoken since; Text is
	// the answer's text.
	Prompt string
	Stale  bool
	Text   string
	// Tools names the tools that the answer calls.
	Tools  []string
	Usage  Usage
	Window int64 // the model's context window, 0 when unknown
	// Masked is how many tokens of the agent's request were not sent on, and SavedUSD what that saved; less than 0 if it
	// cost something, because the provider's cache had to be written anew.
	Masked int64
	// Base is about how many tokens of the context the agent sends before a word is said, 0 if that is not known.
	Base     int64
	SavedUSD float64
	Stop     string
	// EndsTurn is set if the agent now waits for the person: there is no tool to run. Never for a side request.
	EndsTurn bool
	// Interrupted is set if the answer was cut off; Err says how.
	Interrupted bool
	Err         string
	// Fault is the kind of failure if the status does not tell.
	Fault Fault
	// Until is when a limit ends, if the provider reported it.
	Until time.Time
	// Quotas are the limits that the provider reported.
	Quotas []Quota
	// Unread is set if the answer came but could not be read.
	Unread bool

	// Bytes is the memory that the exchange takes. An observer that keeps some of it after ExchangeEnded calls Keep, which
	// may be nil, with the number of bytes, and release once they are stored: the total is bounded, and the thread's next
	// request waits if it is too much.
	Bytes int64
	Keep  func(bytes int64) (release func())
}

// Fault is the kind of a failed request, if its status does not tell.
type Fault string

// The faults.
const (
	FaultNone         Fault = ""
	FaultAgent        Fault = "agent"        // the agent closed the connection
	FaultUnreachable  Fault = "unreachable"  // there was no connection to the provider
	FaultCut          Fault = "cut"          // the provider broke the answer off
	FaultNoAnswer     Fault = "no answer"    // not a model's answer: the page of a proxy
	FaultLimited      Fault = "limited"      // the answer is an error of this kind
	FaultUnauthorised Fault = "unauthorised" // likewise
	FaultError        Fault = "error"        // likewise, of another kind
	FaultOurs         Fault = "ours"         // the gateway has refused it: it is no failure of the provider's
)

// Begun is a model request in progress.
type Begun struct {
	Main  bool
	Sub   SubAgent // as in Exchange
	Model string
	At    time.Time
	// Again is set if it repeats the thread's previous main request, which failed.
	Again bool
	// Prompt is the text of the person's newest message in it; Stale is set if the model has spoken since.
	Prompt string
	Stale  bool
	// Context is how many tokens it likely has, 0 if that is not known, Margin by how much that may be wrong, as a
	// fraction, and Masked how many tokens masks leave out of it.
	Context int64
	Margin  float64
	Masked  int64
}

// Stage is the stage of a main request in progress.
type Stage string

// The stages.
const (
	StageUnconnected Stage = "unconnected" // no connection to the provider after a while
	StageSilent      Stage = "silent"      // the provider has not started to answer after a while
	StageAnswering   Stage = "answering"   // it answers now, or: the answer to a repeated request has started
)

// Observer observes what the gateway carries. The Manager implements it.
type Observer interface {
	// RequestStarted is called when a request is in progress, maybe some time after it started.
	RequestStarted(id ID, b Begun)
	// RequestReached is called for a main request between its start and its end, when it reaches a stage.
	RequestReached(id ID, s Stage, at time.Time)
	// Spoke is called with the answer of a main request as it streams in, after RequestStarted and with Done before
	// ExchangeEnded. It must not block.
	Spoke(id ID, s Speech)
	// ExchangeEnded is called once for every request, after the last byte went to the agent. Exchanges of one thread are
	// reported in the order in which they ended.
	ExchangeEnded(id ID, e Exchange)
	// Hook is called for an agent's hook report.
	Hook(id ID, event string, payload []byte)
	// Asked is called for an agent's hook report, maybe before Hook is. Where a person may answer what it asks, it returns
	// what waits for their answer: what the hook is to say, empty if it is to say nothing.
	Asked(id ID, event string, payload []byte) func(context.Context) []byte
	// Notice shows people something about a thread, which the text need not name.
	Notice(id ID, level Level, text string)
}
