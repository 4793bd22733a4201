package e2e

import (
	"time"

	"orchestrator/contextmgr/replay"
	"orchestrator/thread"
)

// What scripts read of the program, as its help describes it: the tests hold it by names and types of their own.

// Answer is what `send` and `run` print with --json.
type Answer struct {
	Thread     string             `json:"thread"`
	Prompt     thread.PromptID    `json:"prompt"`
	Outcome    string             `json:"outcome"`
	Reason     string             `json:"reason,omitempty"`
	Answer     string             `json:"answer"`
	State      thread.State       `json:"state"`
	Turn       int                `json:"turn,omitempty"`
	Checkpoint *thread.Checkpoint `json:"checkpoint,omitempty"`
}

// Outcomes of an Answer.
const (
	Answered = "answered"
	Queued   = "queued"
)

// TalkEvent is a line of `send` and `run` with --ndjson.
type TalkEvent struct {
	Event   string          `json:"event"`
	At      time.Time       `json:"at"`
	Thread  string          `json:"thread,omitempty"`
	Prompt  thread.PromptID `json:"prompt,omitempty"`
	State   string          `json:"state,omitempty"`
	Turn    int             `json:"turn,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Request int64           `json:"request,omitempty"`
	Text    string          `json:"text,omitempty"`
	Answer  *Answer         `json:"answer,omitempty"`
}

// Retrieved is what `retrieve` prints with --json.
type Retrieved struct {
	Token    string `json:"token"`
	Encoding string `json:"encoding"`
	Data     string `json:"data"`
}

// Finding is a row of `doctor`.
type Finding struct {
	About  string `json:"about"`
	OK     bool   `json:"ok"`
	Found  string `json:"found"`
	Remedy string `json:"remedy"`
}

// Listed is a row of `threads`.
type Listed struct {
	*thread.Status
	SharedWith []string `json:"sharedWith"`
	SharedMore int      `json:"sharedMore"`
}

// Exported is what `export` prints with --json.
type Exported struct {
	Thread  string   `json:"thread"`
	File    string   `json:"file"`
	Secrets bool     `json:"secrets"`
	Files   bool     `json:"files"`
	Notes   []string `json:"notes"`
}

// Replayed is what `context replay` prints with --json.
type Replayed struct {
	Files    int            `json:"files"`
	Sessions int            `json:"sessions"`
	Groups   []replay.Group `json:"groups"`
	Problems []struct {
		File, Error string
		BrokenLines int
	} `json:"problems"`
}

// Limits of the program that tests wait for.
const (
	StartLimit = 90 * time.Second // until a server listens
	HealLimit  = 10 * time.Second // until a server has repaired the record of its socket
)

// BackupRoom is the pattern of the folders in a project's state in which backups are made and unpacked.
const BackupRoom = "backup-*"
