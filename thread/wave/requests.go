package wave

import (
	"encoding/json"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// CheckRequest asks what is to say of a plan before it runs.
type CheckRequest struct {
	Plan plan.Plan                  `json:"plan"`
	Vars map[string]json.RawMessage `json:"variables,omitempty"`
	// MaxParallel is as in RunRequest. Draft has variables without a value be no error: they are given when it runs.
	MaxParallel int  `json:"max_parallel,omitempty"`
	Draft       bool `json:"draft,omitempty"`
}

// Checked is what there is to say.
type Checked struct {
	Plan     string         `json:"plan"`
	Hash     string         `json:"plan_hash"`
	Findings []plan.Finding `json:"findings"`
	Waves    [][]string     `json:"waves"`    // names of agents, by wave
	Critical []string       `json:"critical"` // a longest chain, first to last
	Agents   int            `json:"agents"`
}

// RunRequest starts a plan on a task: on a new one, or on the one that Task names.
type RunRequest struct {
	Plan              plan.Plan                  `json:"plan"`
	Task              string                     `json:"task_id,omitempty"`
	Title             string                     `json:"title,omitempty"`
	Body              string                     `json:"body,omitempty"`
	Vars              map[string]json.RawMessage `json:"variables,omitempty"`
	Session           string                     `json:"session_id,omitempty"`
	Dir               string                     `json:"dir,omitempty"`
	MaxParallel       int                        `json:"max_parallel,omitempty"`
	OnUpstreamFailure plan.OnUpstreamFailure     `json:"on_upstream_failure,omitempty"`
	// Agreed says that the person has seen what a plan asks before it runs, such as a wave wider than 4.
	Agreed bool `json:"agreed,omitempty"`
}

// TaskRef names a task, and an agent or a gate of it where one is meant.
type TaskRef struct {
	Task  string `json:"task_id"`
	Agent string `json:"agent_name,omitempty"`
	// Data has answers come with what was handed over.
	Data bool `json:"data,omitempty"`
}

// View is a task with its nodes, as verbs and screens show it.
type View struct {
	Task  plan.Task    `json:"task"` // without its plan document
	Nodes []NodeView   `json:"agents"`
	Usage thread.Usage `json:"usage"` // of all its executions
	// Wall is the time since it began, to its end; Critical the sum along the longest chain as far as it went; Alone the sum
	// of all agents' times, as one agent would have needed one after the other.
	Wall     time.Duration `json:"wall"`
	Critical time.Duration `json:"critical"`
	Alone    time.Duration `json:"alone"`
	// Open are the nodes that a person is asked about.
	Open []string `json:"open,omitempty"`
}

// NodeView is a node with what is known of its execution and of what it handed over.
type NodeView struct {
	plan.Node
	Wait      string        `json:"waits_for,omitempty"` // in words, for people
	ExecState string        `json:"execution_state,omitempty"`
	Program   string        `json:"program,omitempty"`
	Model     string        `json:"model,omitempty"`
	Usage     thread.Usage  `json:"usage"`
	Took      time.Duration `json:"took,omitempty"`
	Critical  bool          `json:"critical,omitempty"` // on the longest chain

	Summary string      `json:"output_summary,omitempty"`
	Data    string      `json:"output_data,omitempty"`
	Files   []plan.File `json:"output_files,omitempty"`
	Error   string      `json:"error,omitempty"`
}

// RetryRequest begins again: a task's failed agents, one agent, or with From one and all that follow on it.
type RetryRequest struct {
	Task  string `json:"task_id"`
	Agent string `json:"agent_name,omitempty"`
	From  bool   `json:"from,omitempty"`
	// Agreed says that the person knows which consumers are done already.
	Agreed bool `json:"agreed,omitempty"`
}

// AnswerRequest answers what a person is asked about a node. One that was answered already is not answered again.
type AnswerRequest struct {
	Task  string    `json:"task_id"`
	Agent string    `json:"agent_name"`
	Yes   bool      `json:"yes"`
	Only  bool      `json:"only,omitempty"`    // not the others that ask about the same missing hand-overs, too
	Text  string    `json:"text,omitempty"`    // the person's remark; later agents are told it
	Asked time.Time `json:"asked_at,omitzero"` // of the question that was seen, zero for whichever is open
}

// AddRequest adds a task that waits, for a plan or for none yet.
type AddRequest struct {
	Plan    string                     `json:"plan,omitempty"`
	Title   string                     `json:"title"`
	Body    string                     `json:"body,omitempty"`
	Vars    map[string]json.RawMessage `json:"variables,omitempty"`
	Session string                     `json:"session_id,omitempty"`
	Order   int                        `json:"order,omitempty"`
	// Proposed has it wait for a person's yes, whatever is armed.
	Proposed bool `json:"proposed,omitempty"`
}

// ListRequest selects tasks: newest first, or the one that Task names, whose body comes in full.
type ListRequest struct {
	Task     string        `json:"task_id,omitempty"`
	Statuses []plan.Status `json:"status,omitempty"` // none for all
	Plan     string        `json:"plan,omitempty"`
	Session  string        `json:"session_id,omitempty"`
	// Of are those that the agents of a task have proposed: what a `task split` came to.
	Of     string `json:"proposed_by,omitempty"`
	Before string `json:"before,omitempty"`
	Limit  int    `json:"limit,omitempty"` // 100 if 0
}

// EditRequest changes a task that has not begun: nil for what stays.
type EditRequest struct {
	Task  string                     `json:"task_id"`
	Plan  *string                    `json:"plan,omitempty"`
	Title *string                    `json:"title,omitempty"`
	Body  *string                    `json:"body,omitempty"`
	Vars  map[string]json.RawMessage `json:"variables,omitempty"`
	Order *int                       `json:"order,omitempty"`
	// Accept has a proposal wait as other tasks do: an armed plan takes it. Cancel has the task never begin.
	Accept bool `json:"accept,omitempty"`
	Cancel bool `json:"cancel,omitempty"`
}

// ArmRequest arms a plan, or disarms it.
type ArmRequest struct {
	Plan    *plan.Plan `json:"plan,omitempty"` // nil to disarm, or to arm again as it was
	Name    string     `json:"name,omitempty"`
	On      bool       `json:"armed"`
	AtOnce  int        `json:"at_once,omitempty"` // 1 if 0
	Session string     `json:"session_id,omitempty"`
	Dir     string     `json:"dir,omitempty"`
	Ref     string     `json:"ref,omitempty"` // what the plan was read from
	Agreed  bool       `json:"agreed,omitempty"`
}

// StandingPlan is a plan that was armed once, as it stands.
type StandingPlan struct {
	plan.Armed
	// Asks is what a person has to agree to before it is armed: nothing has changed then.
	Asks    []plan.Finding `json:"asks,omitempty"`
	Pending int            `json:"pending"`          // tasks that wait for it
	AtWork  []string       `json:"at_work"`          // names of its tasks at work
	Paused  string         `json:"paused,omitempty"` // why it takes no more, until it is armed again
	// File says that the plan's file is not what was armed: the client finds that out.
	File string `json:"file_note,omitempty"`
}

// SplitRequest has an agent split a text into tasks, which are proposals until a person starts them.
type SplitRequest struct {
	Text    string      `json:"text"`
	Agent   string      `json:"agent,omitempty"`
	Model   string      `json:"model,omitempty"`
	Tier    thread.Tier `json:"tier,omitempty"`
	Session string      `json:"session_id,omitempty"`
	Budget  string      `json:"budget,omitempty"`
	// Plans are those that it may propose, with what they are for.
	Plans []Offered `json:"plans,omitempty"`
}

// Offered is a plan that may be proposed.
type Offered struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// PutRequest hands over for an agent of a task. An agent hands over its own only, and names neither.
type PutRequest struct {
	Task    string          `json:"task_id,omitempty"`
	Agent   string          `json:"agent_name,omitempty"`
	Type    plan.OutputType `json:"output_type,omitempty"`
	Summary string          `json:"summary,omitempty"`
	Data    string          `json:"output_data,omitempty"` // the text of a JSON value; of other types, text
	// Files are paths in the agent's folder; a person's client has staged them and gives tokens.
	Files []plan.File `json:"files,omitempty"`
}

// GetRequest asks for a version of what was handed over; the current one for 0.
type GetRequest struct {
	Task    string `json:"task_id,omitempty"` // an agent's own if empty
	Agent   string `json:"agent_name"`
	Version int    `json:"version,omitempty"`
}

// PutAnswer is what became of what was handed over.
type PutAnswer struct {
	plan.HandOver
	// Same is set if the current version is the same: nothing was stored.
	Same bool `json:"same,omitempty"`
	// Stale are the agents that were given another version: nothing of them begins again by itself.
	Stale []string `json:"stale,omitempty"`
}

// HandedRequest lists what was handed over: current versions, or all.
type HandedRequest struct {
	Task   string `json:"task_id,omitempty"` // an agent's own if empty; for a person, of all tasks
	Agent  string `json:"agent_name,omitempty"`
	All    bool   `json:"all,omitempty"`
	Before string `json:"before,omitempty"` // only older ones than this id
	Limit  int    `json:"limit,omitempty"`
}
