package thread

import (
	"encoding/json"
	"slices"
	"time"
)

// Killed reports whether the code is that of a signal that ends a process in the midst of things. Programs that end
// by themselves use codes above 128 too: 130 after Ctrl+C, or what is left of an HTTP status.
func (e Exit) Killed() bool {
	return slices.Contains([]int{128 + 1, 128 + 3, 128 + 4, 128 + 6, 128 + 7, 128 + 8, 128 + 9, 128 + 11, 128 + 15}, e.Code)
}

// Thread is one line of conversation with one agent: a name for its newest checkpoint.
type Thread struct {
	ID   ID     `json:"id"`
	Name string `json:"name"` // {slug}-{4 hex}, unique in the project
	// Title is what it is shown as where that is not Name: what the person called it, in any script.
	Title string `json:"title,omitempty"`
	// Label is what the person called it or the fork's purpose; the name's slug comes from it.
	Label string `json:"label,omitempty"`

	Parent ID `json:"parent,omitempty"`
	// ForkPoint is the checkpoint the thread began at, of Parent or an ancestor.
	ForkPoint CheckpointID `json:"forkPoint,omitempty"`
	// Head is the newest checkpoint: its own, or the fork point while it has none.
	Head CheckpointID `json:"head,omitempty"`
	// Turn is the number of whole turns up to Head.
	Turn int `json:"turn"`

	Agent   string `json:"agent"`
	Model   string `json:"model,omitempty"`
	Session string `json:"session,omitempty"` // the agent's own session id; empty until known
	Launch  Flags  `json:"launch"`

	Dir      string   `json:"dir"` // where the agent runs, absolute
	Worktree Worktree `json:"worktree"`
	Setup    Setup    `json:"setup,omitzero"` // of the worktree

	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`

	// Grants are what its agent may ask of the server beyond looking at this thread; package grant says what
	// each allows. A fork has none of its parent's.
	Grants []Grant `json:"grants,omitempty"`

	Pinned   bool      `json:"pinned,omitempty"`
	Archived time.Time `json:"archived,omitzero"` // zero while it is not archived
	Deleted  time.Time `json:"deleted,omitzero"`  // zero while it is not deleted; purged later
	Outcome  Outcome   `json:"outcome,omitzero"`
	// Seen is set when a person has looked at the thread since its last answer.
	Seen bool `json:"seen"`

	Gauge   Gauge    `json:"gauge"` // of the last main response, so that a stopped thread shows it
	Usage   Usage    `json:"usage"` // sum over its own responses
	Handoff *Handoff `json:"handoff,omitempty"`
	// Interrupted is set when its process was killed or ended in the middle of a turn, and it was not resumed yet.
	Interrupted bool `json:"interrupted,omitempty"`
	// Exit is how its last process ended; zero while one runs.
	Exit Exit `json:"exit,omitzero"`
}

// Grant is something that a thread's agent is allowed to ask of the server.
type Grant string

// Flags are the ways an agent was started that come back as they were on resume.
type Flags struct {
	Args           []string `json:"args,omitempty"`           // extra arguments of the person
	Env            []string `json:"env,omitempty"`            // KEY=VALUE of the person, never credentials
	PermissionMode string   `json:"permissionMode,omitempty"` // in the agent's own words; empty is its default
	NoGateway      bool     `json:"noGateway,omitempty"`      // model requests go straight to the provider
	Program        []string `json:"program,omitempty"`        // argv of the command agent
}

// Worktree is the git worktree that belongs to a thread; the zero value means that the
// thread runs in the project's own folder.
type Worktree struct {
	Path   string `json:"path,omitempty"`
	Branch string `json:"branch,omitempty"`
	Base   string `json:"base,omitempty"` // commit the branch started from
}

// OutcomeKind says how a thread ended for its parent.
type OutcomeKind string

// The outcomes.
const (
	OutcomeNone      OutcomeKind = ""
	OutcomeMerged    OutcomeKind = "merged"
	OutcomeAbandoned OutcomeKind = "abandoned"
)

// Outcome is how a thread ended, shown in the tree.
type Outcome struct {
	Kind   OutcomeKind `json:"kind,omitempty"`
	Reason string      `json:"reason,omitempty"`
	Into   ID          `json:"into,omitempty"`
	Commit string      `json:"commit,omitempty"`
	At     time.Time   `json:"at,omitzero"`
}

// Handoff is the typed payload stored with a fork: what the new thread was told.
type Handoff struct {
	TaskID         string       `json:"taskId"`
	ThreadID       ID           `json:"threadId"`
	Description    string       `json:"description"`
	ContextSummary string       `json:"contextSummary"`
	EnabledMCPs    []string     `json:"enabledMcps"`
	CheckpointID   CheckpointID `json:"checkpointId"`
	// Fresh is set where the thread's agent is given the summary though it could be given the conversation itself.
	Fresh    bool            `json:"fresh,omitempty"`
	Metadata HandoffMetadata `json:"metadata"`
}

// HandoffMetadata says where a handoff came from and what it was allowed to cost.
type HandoffMetadata struct {
	ParentThreadID ID  `json:"parentThreadId"`
	ForkPoint      int `json:"forkPoint"`   // turn
	TokenBudget    int `json:"tokenBudget"` // tokens
}

// Execution is one run of an agent process. Its row is stored before the process starts.
type Execution struct {
	ID      ExecutionID `json:"id"`
	Thread  ID          `json:"thread"`
	Agent   string      `json:"agent"`
	Session string      `json:"session,omitempty"`
	PID     int         `json:"pid,omitempty"` // 0 until started
	Started time.Time   `json:"started"`
	Ended   time.Time   `json:"ended,omitzero"`
	Exit    Exit        `json:"exit,omitzero"`
}

// Exit is how a process ended.
type Exit struct {
	Code   int    `json:"code"`             // 128+signal for signals
	Reason string `json:"reason,omitempty"` // "stopped", "exited", "lost", or what limit it was ended for: for people
	Limit  bool   `json:"limit,omitempty"`  // it was ended because it reached a limit
	Screen string `json:"screen,omitempty"` // its last lines, where it failed
}

// Intent is a multi-step operation that was begun: written first, dropped last, so that the
// next start can name what was left and finish it or take it back.
type Intent struct {
	ID      string          `json:"id"`
	Kind    string          `json:"kind"` // "fork", "rewind", "merge", "finish", "delete", "import"
	Thread  ID              `json:"thread"`
	Data    json.RawMessage `json:"data"`
	Created time.Time       `json:"created"`
}
