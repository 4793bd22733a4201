package thread

import (
	"time"
)

// EventKind says what an event tells.
type EventKind string

// The kinds of events.
const (
	EventThread     EventKind = "thread"     // Status is new or changed
	EventRemoved    EventKind = "removed"    // ThreadID is gone from the list
	EventCheckpoint EventKind = "checkpoint" // Checkpoint is durable
	EventNotice     EventKind = "notice"     // Notice is for people
	EventSwitch     EventKind = "switch"     // clients should show ThreadID
	EventPrompt     EventKind = "prompt"     // Prompt is new or changed
	EventSpeech     EventKind = "speech"     // the model of ThreadID speaks; told to those that follow the thread
)

// Event is something that happened; clients keep their read model from these. Seq has no gaps
// within one run of a server: a client that sees one asks for everything again. Numbers of a later run are larger.
type Event struct {
	Seq        int64       `json:"seq"`
	At         time.Time   `json:"at"`
	Kind       EventKind   `json:"kind"`
	ThreadID   ID          `json:"threadId,omitempty"`
	Status     *Status     `json:"status,omitempty"`
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	Notice     *Notice     `json:"notice,omitempty"`
	// Prompt has an excerpt of its text.
	Prompt *Prompt `json:"prompt,omitempty"`
	Speech *Speech `json:"speech,omitempty"`
}

// Speech is a piece of what a thread's model says, as it says it. The pieces of one request, joined, are the
// answer's text, unless one was missed: then the rest of that request's is left out, and the answer is read once it
// is stored.
type Speech struct {
	Request int64  `json:"request"` // counts the thread's main requests in this run of the server
	Text    string `json:"text,omitempty"`
	// Missed is set where something was left out because its reader was slow.
	Missed bool `json:"missed,omitempty"`
	// Done is set with the request's end, and Cut where it was cut off: an agent that asks again gets all of it again,
	// with a later request.
	Done bool `json:"done,omitempty"`
	Cut  bool `json:"cut,omitempty"`
}

// Level ranks notices.
type Level string

// The levels.
const (
	LevelInfo  Level = "info"
	LevelWarn  Level = "warn"
	LevelError Level = "error"
)

// Notice is a message for people.
type Notice struct {
	Level Level  `json:"level"`
	Text  string `json:"text"`
}
