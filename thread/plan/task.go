package plan

import (
	"encoding/json"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Status is the state of a task.
type Status string

// The states. The last three are final, but a task that is retried goes on.
const (
	Proposed   Status = "proposed" // an agent proposes it; nothing of it begins before a person says so
	Pending    Status = "pending"  // nobody works on it
	InProgress Status = "in_progress"
	Complete   Status = "complete" // each agent has handed over, or was left out by its policy
	Failed     Status = "failed"
	Cancelled  Status = "cancelled"
)

// Final reports whether nothing follows on a state by itself.
func (s Status) Final() bool { return s == Complete || s == Failed || s == Cancelled }

// Task is a piece of work that a plan is for, or at work on: all of a run of a plan. In JSON it has the names of the view
// "tasks", and more.
type Task struct {
	ID     string `json:"id"`      // a UUID
	Name   string `json:"task_id"` // "task-001", unique in the project for good; set by the store
	Title  string `json:"title"`
	Body   string `json:"body,omitempty"` // what there is to say beside the title
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"` // why it waits, failed or was cancelled, for people
	// Order is where a pending task stands among others: smaller ones are taken first, then older ones.
	Order int `json:"order,omitempty"`

	// PlanName is the name of its plan, "" for none yet. Plan is the plan itself, which is copied when the task begins, and
	// Hash that of it. Vars are the variables' values, by name.
	PlanName string                     `json:"plan,omitempty"`
	Plan     *Plan                      `json:"plan_document,omitempty"`
	Hash     string                     `json:"plan_hash,omitempty"`
	Vars     map[string]json.RawMessage `json:"variables,omitempty"`

	// Session is the name of the work session that it belongs to, "" for none.
	Session string `json:"session_id,omitempty"`
	// By is the thread whose agent asked for it, "" for a person; Within the execution of that.
	By     thread.ID `json:"recorded_by,omitempty"`
	Within work.ID   `json:"within,omitempty"`
	// Dir is the folder that its agents work in or branch from; the project's if empty.
	Dir string `json:"dir,omitempty"`
	// MaxParallel is as in Plan, as the person chose for this task.
	MaxParallel int `json:"max_parallel,omitempty"`
	// OnUpstreamFailure, if set, holds for all agents of this task.
	OnUpstreamFailure OnUpstreamFailure `json:"on_upstream_failure,omitempty"`

	// Server is the server that works on it, "" before one does; Fence is raised whenever that changes: a write with an older
	// one changes nothing.
	Server string `json:"server,omitempty"`
	Fence  int64  `json:"fence"`

	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
	Started time.Time `json:"started_at,omitzero"`
	Ended   time.Time `json:"completed_at,omitzero"`
	Host    string    `json:"host,omitempty"`
	User    string    `json:"user_name,omitempty"`
}

// NodeState is the state of a node.
type NodeState string

// The states. What has no upstream left to wait for is started at once, so that there is none between waiting and working.
const (
	NodeWaiting   NodeState = "waiting"   // for upstreams, a gate or a place
	NodeAsking    NodeState = "asking"    // a person is asked: Question says what
	NodeWorking   NodeState = "working"   // it has a round with an execution, or is about to
	NodeDelivered NodeState = "delivered" // what it hands over is stored; of a gate: a person said yes
	NodeFailed    NodeState = "failed"    // of a gate: a person said no
	NodeSkipped   NodeState = "skipped"   // an upstream failed, and the policy leaves it out
	NodeCancelled NodeState = "cancelled"
)

// Final reports whether nothing follows on a state by itself.
func (s NodeState) Final() bool {
	switch s {
	case NodeDelivered, NodeFailed, NodeSkipped, NodeCancelled:
		return true
	default:
		return false
	}
}

// Node is an agent of a plan, or a gate, as it stands in a task.
type Node struct {
	Task  string `json:"task_id"` // its name
	Agent string `json:"agent_name"`
	Gate  bool   `json:"gate,omitempty"`
	// Number is its place in the plan, from 0, and Wave its wave, from 1.
	Number int `json:"number"`
	Wave   int `json:"wave"`
	// Reads and After are what it waits for, by name: all of the latter are gates, or agents of which it gets nothing.
	Reads []string `json:"reads,omitempty"`
	After []string `json:"after,omitempty"`

	State  NodeState `json:"state"`
	Reason string    `json:"reason,omitempty"` // for people
	// Question is what a person is asked while it is NodeAsking, and Asked since when. Answered is what was said, once for each
	// question.
	Question string    `json:"question,omitempty"`
	Asks     Asks      `json:"asks,omitempty"`
	Asked    time.Time `json:"asked_at,omitzero"`
	Answered string    `json:"answered,omitempty"`
	// Without is the last answer to whether to go on without what is missing, and Again when a person has last had it begin again.
	Without *Without  `json:"without,omitempty"`
	Again   time.Time `json:"again_at,omitzero"`

	// Round counts its beginnings from 1, 0 before the first: a retry is another round. Its executions name it. Fence is raised
	// by each round, cancellation and retry: a write with an older one changes nothing and is kept as an event.
	Round int   `json:"round"`
	Fence int64 `json:"fence"`
	// Execution is the newest execution of the round, Thread its thread; "" before there is one. Repaired is set once the agent
	// was asked to mend what it handed over.
	Execution work.ID   `json:"execution_id,omitempty"`
	Exec      string    `json:"execution,omitempty"` // its name
	Thread    thread.ID `json:"thread,omitempty"`
	Repaired  bool      `json:"repaired,omitempty"`
	Retried   int       `json:"retried,omitempty"` // rounds that followed by policy, without a person
	// Given are the versions of the upstreams' deliverables that the round was given, by agent.
	Given map[string]int `json:"given,omitempty"`
	// Version is that of its current deliverable, 0 for none. Stale is set while an upstream has handed over another version
	// than it was given: a person is asked, nothing begins by itself.
	Version int  `json:"version,omitempty"`
	Stale   bool `json:"stale,omitempty"`
	// PutIn is the round in which its agent has put what is current itself, be it the same as before: its final message counts
	// for nothing then.
	PutIn int `json:"put_in_round,omitempty"`
	// Stalled says since it is taken to be stuck, why; "" if it is not.
	Stalled string `json:"stalled,omitempty"`

	Started time.Time `json:"started_at,omitzero"` // of the round
	Ended   time.Time `json:"completed_at,omitzero"`
}

// AtWork reports whether its round is: it is also while a person is asked whether it is stuck.
func (n Node) AtWork() bool {
	return n.State == NodeWorking || n.State == NodeAsking && n.Asks == AsksStall
}

// Without is what a person has said to whether to go on without what was missing then. It holds for all that ask about the
// same, also for those that come to it later, unless it is Only for one.
type Without struct {
	Yes  bool      `json:"yes"`
	Only bool      `json:"only,omitempty"`
	At   time.Time `json:"at"`
}

// Asks is what a person is asked about a node.
type Asks string

// What is asked.
const (
	AsksGate     Asks = "gate"     // yes: it goes on; no: the gate has failed
	AsksUpstream Asks = "upstream" // yes: go on without what is missing; no: leave it out
	AsksStall    Asks = "stall"    // yes: begin again; no: let it go on
	AsksLost     Asks = "lost"     // yes: begin again; no: it has failed
)

// Event is a line in the history of a task. It is written once and never changed.
type Event struct {
	Seq  int64     `json:"seq"` // in the task, from 1; set by the store
	At   time.Time `json:"at"`
	Node string    `json:"agent_name,omitempty"` // "" for the task itself
	// Kind is "state" for a change of state, which the store writes by itself, "fenced" for a write that came too late, or
	// "note".
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"` // without secrets
}

// The kinds of events.
const (
	EventState  = "state"
	EventFenced = "fenced"
	EventNote   = "note"
)

// Armed is a plan that takes pending tasks as they come.
type Armed struct {
	Name   string    `json:"plan"`
	Plan   Plan      `json:"plan_document"`
	Hash   string    `json:"plan_hash"`
	On     bool      `json:"armed"`
	AtOnce int       `json:"at_once"` // tasks at work at once, at least 1
	Server string    `json:"server,omitempty"`
	By     thread.ID `json:"recorded_by,omitempty"`
	// Session is the work session that its tasks belong to, "" for none.
	Session string    `json:"session_id,omitempty"`
	Dir     string    `json:"dir,omitempty"`
	Ref     string    `json:"ref,omitempty"` // what the plan was read from, as its client finds it again
	Changed time.Time `json:"changed_at"`
}
