package plan

import (
	"encoding/json"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// HandOver is a version of what an agent hands over for a task. Once stored it does not change, but for Current. In JSON it
// has the names of the view "deliverables", and more.
type HandOver struct {
	ID      string `json:"id"`      // a UUID
	Task    string `json:"task_id"` // its name; the view has the id beside
	Agent   string `json:"agent_name"`
	Version int    `json:"version"` // from 1 in (task, agent); set by the store
	Current bool   `json:"current"` // the newest one, at most one in (task, agent)

	Type OutputType `json:"output_type"`
	// Summary is what it says in a few sentences. Data is a JSON value, as the text that the agent gave: the order of keys,
	// numbers and characters stay. Files are what it hands over by content.
	Summary string `json:"summary,omitempty"`
	Data    string `json:"output_data"`
	Files   []File `json:"files,omitempty"`
	// Schema is the hash of the schema that Data was checked against, "" for none.
	Schema string `json:"schema_hash,omitempty"`
	// Token is that of Data staged, once a prompt needed it; it opens along the edges of the plan only.
	Token thread.Token `json:"token,omitempty"`
	Bytes int64        `json:"bytes"` // of Data

	Execution work.ID   `json:"execution_id,omitempty"` // "" for one that a person put
	Exec      string    `json:"execution,omitempty"`    // its name
	Round     int       `json:"round,omitempty"`
	By        thread.ID `json:"recorded_by,omitempty"` // the thread of the agent; "" for a person
	Created   time.Time `json:"created_at"`
}

// HandedOver is the label of staged data that is a part of what an agent handed over: its token opens along an edge only.
const HandedOver = "handed-over"

// File is a file that is handed over by its content.
type File struct {
	Path  string       `json:"path"` // in the folder of whoever handed it over, with slashes
	Token thread.Token `json:"token"`
	Hash  string       `json:"sha256"`
	Bytes int64        `json:"bytes"`
}

// Contract is what an agent hands over, as it says it: the whole of a JSON object, or a bare object that meets the schema,
// which is Data then.
type Contract struct {
	Summary string          `json:"summary"`
	Data    json.RawMessage `json:"output_data"`
	Files   []string        `json:"files,omitempty"` // paths
}
