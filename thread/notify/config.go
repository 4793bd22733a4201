package notify

import (
	"encoding/json"
	"fmt"
	"time"

	"orchestrator/thread"
)

// The limits of a command: how long it may take, and how often it runs in a minute, over all and for one thread.
const (
	Limit      = 10 * time.Second
	PerMinute  = 20
	PerThread  = 6
	mostOutput = 64 << 10
	// quiet is how long the same trouble is not reported again, and countTime how long what is left out is counted before
	// that is reported.
	quiet     = time.Hour
	countTime = time.Minute
)

// Command is a command and what it is run on.
type Command struct {
	Name  string // the setting, for people
	Words []string
	Kinds []thread.HappeningKind
}

// Config configures a Notifier.
type Config struct {
	Commands []Command
	Project  string   // its folder
	Owner    string   // what a later server of the same project is known by
	Env      []string // of the commands
	// Report tells people of trouble with a command.
	Report func(text string)
	Limit  time.Duration // Limit when 0
	// Count is how long what is left out is counted; countTime when 0.
	Count time.Duration
}

// Message is what a command reads: one JSON object on its standard input.
type Message struct {
	thread.Happening
	Project string `json:"project"` // its folder
	// Left is how many events were left out since the last run, because there were too many.
	Left int `json:"left,omitempty"`
}

// input returns what a command reads.
func (m Message) input() []byte {
	b, _ := json.Marshal(m) // strings and numbers: never fails
	return append(b, '\n')
}

// variables returns the same for its environment.
func (m Message) variables() []string {
	return []string{
		"EVENT_SEQ=" + fmt.Sprint(m.Seq), "EVENT_KIND=" + string(m.Kind), "EVENT_THREAD=" + m.Name, "EVENT_LABEL=" + m.Label,
		"EVENT_TEXT=" + m.Text, "EVENT_PROJECT=" + m.Project,
	}
}
