package thread

import (
	"encoding/json"
	"slices"
	"time"
)

// Killed reports whether the code is that of a signal that kills a process in the middle of its work. Programs that
// exit by themselves use codes above 128 too: 130 after Ctrl+C, or a truncated HTTP status.
func (e Exit) Killed() bool {
	return slices.Contains([]int{128 + 1, 128 + 3, 128 + 4, 128 + 6, 128 + 7, 128 + 8, 128 + 9, 128 + 11, 128 + 15},
		e.Code)
}

// Thread is one line of conversation with one agent: a name for its newest checkpoint.
type Thread struct {
	ID   ID     `json:"id"`
	Name string `json:"name"` // {slug}-{4 hex}, unique in the project
	// Title is its display name if that is not Name: the name that the person gave it, in any script.
	Title string `json:"title,omitempty"`
	// Label is the person's name for it or the purpose of the fork; the name's slug is made from it.
	Label string `json:"label,omitempty"`

	Parent ID `json:"parent,omitempty"`
	// ForkPoint is the checkpoint that the thread began at, of Parent or an ancestor.
	ForkPoint CheckpointID `json:"forkPoint,omitempty"`
	// Head is the newest checkpoint: its own, or the fork point while it has none.
	Head CheckpointID `json:"head,omitempty"`
	// Turn is the number of whole turns up to Head.
	Turn int `json:"turn"`

	Agent   string `json:"agent"`
	Model   string `json:"model,omitempty"`
	Session string `json:"session,omitempty"` // the agent's own session id, "" until known
	Launch  Flags  `json:"launch"`
	// Once says whether its agent runs without a terminal, and how.
	Once Once `json:"once,omitzero"`

	Dir      string   `json:"dir"` // where the agent runs, absolute
	Worktree Worktree `json:"worktree"`
	Setup    Setup    `json:"setup,omitzero"` // of the worktree

	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`

	// Grants are what its agent may ask of the server besides reading this thread; package grant says what each allows. A
	// fork has none of its parent's.
	Grants []Grant `json:"grants,omitempty"`

	Pinned   bool      `json:"pinned,omitempty"`
	Archived time.Time `json:"archived,omitzero"` // zero unless archived
	Deleted  time.Time `json:"deleted,omitzero"`  // zero unless deleted; purged later
	Outcome  Outcome   `json:"outcome,omitzero"`
	// Seen is set if a person has looked at the thread since its last answer.
	Seen bool `json:"seen"`

	Gauge   Gauge    `json:"gauge"` // of the last main response, so that a stopped thread has it too
	Usage   Usage    `json:"usage"` // sum over its own responses
	Handoff *Handoff `json:"handoff,omitempty"`
	// Interrupted is set if its process was killed or exited in the middle of a turn, and it has not been resumed yet.
	Interrupted bool `json:"interrupted,omitempty"`
	// Exit is how its last process ended; zero while one runs.
	Exit Exit `json:"exit,omitzero"`
	// MCP is what was decided about MCP servers.
	MCP MCPSwitches `json:"mcp,omitzero"`
	// Base is what its agent leaves out of what it sends before a word is said.
	Base Base `json:"base,omitzero"`
	// Declined are levers of its base that the person did not want back: they are not offered again.
	Declined []string `json:"declined,omitempty"`
	// Displaced is set if its folder was not given the files of Head, as after an import: the next start takes the folder
	// as it is.
	Displaced bool `json:"displaced,omitempty"`
	// Masks is what the log of its masks has, nil if that is not known.
	Masks *MaskSeal `json:"masks,omitempty"`
}

// Grant is something that a thread's agent may ask of the server.
type Grant string

// Flags are the start options of an agent that are used again on resume.
type Flags struct {
	Args           []string `json:"args,omitempty"`           // the person's extra arguments
	Env            []string `json:"env,omitempty"`            // the person's KEY=VALUE, never credentials
	PermissionMode string   `json:"permissionMode,omitempty"` // in the agent's own words, "" for its default
	NoGateway      bool     `json:"noGateway,omitempty"`      // model requests go directly to the provider
	Program        []string `json:"program,omitempty"`        // argv of the command agent
}

// Worktree is the git worktree of a thread; the zero value means that the thread runs in the project's own folder.
type Worktree struct {
	Path   string `json:"path,omitempty"`
	Branch string `json:"branch,omitempty"`
	Base   string `json:"base,omitempty"` // commit the branch started from
}

// OutcomeKind is how a thread ended for its parent.
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

// Handoff is the payload stored with a fork: what the new thread was told.
type Handoff struct {
	TaskID         string       `json:"taskId"`
	ThreadID       ID           `json:"threadId"`
	Description    string       `json:"description"`
	ContextSummary string       `json:"contextSummary"`
	EnabledMCPs    []string     `json:"enabledMcps"`
	CheckpointID   CheckpointID `json:"checkpointId"`
	// Fresh is set if the thread's agent gets the summary although it could get the conversation itself.
	Fresh bool `json:"fresh,omitempty"`
	// Staged are the tokens of what was too large for the summary.
	Staged   []Token         `json:"staged,omitempty"`
	Metadata HandoffMetadata `json:"metadata"`
}

// HandoffMetadata describes where a handoff came from and its token budget.
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
	Reason string `json:"reason,omitempty"` // "stopped", "exited", "lost", or the limit that it exceeded: for people
	Limit  bool   `json:"limit,omitempty"`  // it was killed because it exceeded a limit
	Screen string `json:"screen,omitempty"` // its last lines, if it failed
	// Printed is how many bytes a process without a terminal printed.
	Printed int64 `json:"printed,omitempty"`
}

// Intent is a multi-step operation that has begun: written first, deleted last, so that the next start can report what
// was left and complete it or roll it back.
type Intent struct {
	ID      string          `json:"id"`
	Kind    string          `json:"kind"` // "fork", "rewind", "merge", "finish", "delete", "import"
	Thread  ID              `json:"thread"`
	Data    json.RawMessage `json:"data"`
	Created time.Time       `json:"created"`
}
