package thread

import "time"

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
)

// Event is something that happened; clients keep their read model from these. Seq has no gaps
// within one run of a server: a client that sees one asks for everything again.
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

// Offer proposes to fork a thread: why, and with which label.
type Offer struct {
	ID     string       `json:"id"`
	Thread ID           `json:"thread"`
	At     CheckpointID `json:"at"`
	Label  string       `json:"label"`
	Rule   string       `json:"rule"`
	Why    string       `json:"why"`
	Prompt string       `json:"prompt,omitempty"`
}
