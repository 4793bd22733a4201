package thread

import (
	"time"
)

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	EventThread     EventKind = "thread"     // Status is new or changed
	EventRemoved    EventKind = "removed"    // ThreadID is no longer listed
	EventCheckpoint EventKind = "checkpoint" // Checkpoint is durable
	EventNotice     EventKind = "notice"     // Notice is a message for people
	EventSwitch     EventKind = "switch"     // clients should show ThreadID
	EventPrompt     EventKind = "prompt"     // Prompt is new or changed
	EventMCP        EventKind = "mcp"        // the MCP servers of ThreadID, or of all threads, have changed
	// A piece of the answer of ThreadID's model; only for clients that follow the thread.
	EventSpeech EventKind = "speech"
	// Happening is a new line of the event log: what an event before it means to people.
	EventHappened EventKind = "happened"
	// The record of work has changed: Record says whose.
	EventRecord EventKind = "record"
	// Run is a piece of what an execution reports; only for clients that follow it.
	EventRun EventKind = "run"
)

// Event is something that happened; clients keep their copy of the state current with these. Seq has no gaps within one
// run of a server: a client that sees a gap reads everything again. A later run has larger numbers.
type Event struct {
	Seq        int64       `json:"seq"`
	At         time.Time   `json:"at"`
	Kind       EventKind   `json:"kind"`
	ThreadID   ID          `json:"threadId,omitempty"`
	Status     *Status     `json:"status,omitempty"`
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	Notice     *Notice     `json:"notice,omitempty"`
	// Prompt contains an excerpt of its text.
	Prompt    *Prompt    `json:"prompt,omitempty"`
	Speech    *Speech    `json:"speech,omitempty"`
	Happening *Happening `json:"happening,omitempty"`
	Run       *RunPiece  `json:"run,omitempty"`
	Record    *Recorded  `json:"record,omitempty"`
}

// Recorded is what of the record of work has changed since the last event of the kind.
type Recorded struct {
	// Sessions are the names of the work sessions; none if it is not known which, unless Tasks are named.
	Sessions []string `json:"sessions,omitempty"`
	// Tasks are the names of the tasks of plans that have changed, which come by themselves.
	Tasks []string `json:"tasks,omitempty"`
}

// Speech is a piece of a model's answer as it streams in. The pieces of one request, joined, are the answer's text. If
// one was missed, the rest of that request is dropped too, and the answer is read once it is stored.
type Speech struct {
	Request int64  `json:"request"` // counts the thread's main requests in this run of the server
	Text    string `json:"text,omitempty"`
	// Missed is set if pieces were dropped because the reader was slow.
	Missed bool `json:"missed,omitempty"`
	// Done is set at the end of the request, and Cut if it was cut off: an agent that retries gets the whole answer again,
	// with a later request. Ends is set if the agent now waits for the person.
	Done bool `json:"done,omitempty"`
	Cut  bool `json:"cut,omitempty"`
	Ends bool `json:"ends,omitempty"`
	// Said is what the person said in the request since the model last spoke, at most MaxSaid bytes; it comes with the
	// first piece. A request without it continues the work on what was said before, or the agent began it by itself.
	Said string `json:"said,omitempty"`
}

// MaxSaid is the most bytes of Speech.Said.
const MaxSaid = 64 << 10

// Level is the severity of a notice.
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
	// Kind is what it is in the event log, a notice if it is empty; one that something failed is an error.
	Kind HappeningKind `json:"kind,omitempty"`
	// About names what it is about where that is no thread, such as a task of a plan: the happening has that name.
	About string `json:"about,omitempty"`
}
