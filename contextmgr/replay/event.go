package replay

import (
	"time"

	"orchestrator/contextmgr/policy"
)

// Kind describes what an event is.
type Kind string

// The kinds of events.
const (
	KindText     Kind = "text"
	KindThinking Kind = "thinking"
	KindCall     Kind = "tool_use"
	KindResult   Kind = "tool_result"
	// KindBoundary is where the agent replaced what was before: by a summary, or by less of it.
	KindBoundary Kind = "boundary"
	// KindRewind is where the person went back: what follows does not go on from what was before.
	KindRewind Kind = "rewind"
	// KindSession begins another session of the same file.
	KindSession Kind = "session"
)

// Event is one piece of a recorded conversation, in order. It has sizes and no contents.
type Event struct {
	Kind Kind
	// Person is set for what the model did not write, and Aside for text that the agent itself added.
	Person, Aside bool
	// Bytes and Lines are the size of the content; Images are counted beside it.
	Bytes  int64
	Lines  int
	Images int

	// Tool and ID pair a call and its result. Use says what a call does.
	Tool, ID string
	Use      policy.Use
	Error    bool

	// Usage is set on the first event of each response: the request's.
	Usage *Usage
	Model string
	// At is the time since the session began; Timed says that it is known.
	At    time.Duration
	Timed bool
}

// Usage is what the provider counted of a request and its response, in tokens.
type Usage struct{ Input, CacheRead, CacheWrite, Output int64 }

// Context returns the size of the request.
func (u Usage) Context() int64 { return u.Input + u.CacheRead + u.CacheWrite }
