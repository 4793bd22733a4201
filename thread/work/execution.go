package work

import (
	"cmp"
	"time"

	"orchestrator/thread"
)

// ID identifies an execution for good. 16 hex digits.
type ID string

// Policy is what follows when an execution is lost.
type Policy string

// The policies.
const (
	PolicyAsk    Policy = "ask"    // it stays lost until a person decides
	PolicyResume Policy = "resume" // it goes on in the agent's own session, if that can be resumed; else as PolicyAsk
	PolicyRetry  Policy = "retry"  // it is tried once more from its beginning
	PolicyFail   Policy = "fail"   // it has failed
)

// Execution is a piece of work. It stays comparable.
type Execution struct {
	ID     ID              `json:"id"`
	Name   string          `json:"name"` // "exec-001", unique in the project; numbered by the store, or the person's choice
	Kind   Kind            `json:"kind,omitempty"`
	Thread thread.ID       `json:"thread"` // of one by hand: the recording agent's; "" for a person's
	Prompt thread.PromptID `json:"prompt"` // what is asked
	// Process is the row of the newest attempt's process, "" before the first.
	Process thread.ExecutionID `json:"process,omitempty"`
	Agent   string             `json:"agent"`
	// Account stands for the login that pays, without a secret; "" if that is not known. Limits are counted by it.
	Account string `json:"account,omitempty"`
	// By is the thread whose agent asked for it, or wrote it down; "" for a person. Depth is how many executions deep that is: 0 for what a
	// person asked for.
	By    thread.ID `json:"by,omitempty"`
	Depth int       `json:"depth,omitempty"`
	// Within is the execution whose agent asked for it, "" for none: its budgets pay for this one too.
	Within ID `json:"within,omitempty"`

	State State `json:"state"`
	// Reason says for people why it waits, failed, or was cancelled.
	Reason string `json:"reason,omitempty"`
	// Attempt counts its starts from 1; 0 before the first. Fence is raised by each start, cancellation and loss: a write
	// that has an older one changes nothing.
	Attempt int   `json:"attempt"`
	Fence   int64 `json:"fence"`
	// Server is the run of the server that has it, "" while it is queued.
	Server string `json:"server,omitempty"`

	Priority int           `json:"priority,omitempty"` // larger ones start first; 0 is usual
	ReadOnly bool          `json:"readOnly,omitempty"`
	Deadline time.Duration `json:"deadline"` // from its start; then it fails
	Lost     Policy        `json:"lost"`
	// Dispose is what becomes of a worktree that was made for it.
	Dispose Disposal `json:"dispose,omitempty"`

	Created time.Time `json:"created"`
	Started time.Time `json:"started,omitzero"` // of the newest attempt's process
	Ended   time.Time `json:"ended,omitzero"`
	// Answer is the last thing that the agent said, as an excerpt without secrets. Output is the token of everything that
	// the process printed, once it is staged, and Printed how many bytes that were.
	Answer string       `json:"answer,omitempty"`
	Output thread.Token `json:"output,omitempty"`
	// Whole is the token of the answer as it was written, if it has more words than it may.
	Whole   thread.Token `json:"whole,omitempty"`
	Printed int64        `json:"printed,omitempty"`
	// Usage sums up what the model was asked in all attempts, counted once.
	Usage thread.Usage `json:"usage"`
	// Counted is the newest attempt that Usage and Printed include.
	Counted int `json:"counted,omitempty"`
	// Group is the name of the group of runs that it shares a budget with, "" for none, and Budget its own.
	Group  string        `json:"group,omitempty"`
	Budget thread.Budget `json:"budget,omitzero"`
	// Tier is the class of its model, Model that model, "" for the agent's own, and Chosen why it is this one.
	Tier   thread.Tier `json:"tier,omitempty"`
	Model  string      `json:"model,omitempty"`
	Chosen string      `json:"chosen,omitempty"`
	// Caps are those that its prompt names. Calls is how many calls of tools it has made in all attempts, and Rereads how
	// many of them read a file that it had read before. Gap is what is missing, in the agent's words, once it was stopped at
	// its bound and has reported.
	Caps      thread.Caps `json:"caps,omitzero"`
	Calls     int         `json:"calls,omitempty"`
	Rereads   int         `json:"rereads,omitempty"`
	Reporting bool        `json:"reporting,omitempty"` // it was stopped at its bound, and this attempt reports
	Gap       string      `json:"gap,omitempty"`
	// Failure is why the newest attempt failed, the zero value if it did not. Retries counts the attempts that followed on a
	// failure of transport, Redone those that followed on one of the agent. After is the earliest start of the next attempt,
	// decided at Failure.At.
	Failure Failure   `json:"failure,omitzero"`
	Retries int       `json:"retries,omitempty"`
	Redone  int       `json:"redone,omitempty"`
	After   time.Time `json:"after,omitzero"`
	// OnFail is what follows on a failure, and Fallback what may take its place: "model:NAME" or the name of an agent.
	OnFail   OnFail `json:"onFail,omitempty"`
	Fallback string `json:"fallback,omitempty"`
	// For is the execution whose fallback this one is, Instead the one that is its fallback; "" for none.
	For     ID `json:"for,omitempty"`
	Instead ID `json:"instead,omitempty"`
	// FellBack is the attempt since which its fallback, another model, works, 0 if none does; Former is the model before that,
	// "" for the agent's own.
	FellBack int    `json:"fellBack,omitempty"`
	Former   string `json:"former,omitempty"`
	// Question is what it waits for a person with, while it is NeedsInput.
	Question *thread.Question `json:"question,omitempty"`
	// Waited is how long the newest attempt has waited for a person, as far as that is over: its deadline does not count it.
	Waited time.Duration `json:"waited,omitempty"`
	// Before is what its thread had used when the newest attempt began: the difference is what that one uses.
	Before thread.Usage `json:"before,omitzero"`

	// Beside is what the newest attempt has used beside its conversation, without its price, as far as that is stored; its end
	// counts it in Usage.
	Beside thread.Usage `json:"beside,omitzero"`

	// Session is the name of the work session that it belongs to, and Task the title of a task of it; "" for none.
	Session string `json:"session,omitempty"`
	Task    string `json:"task,omitempty"`
	// Agreed is set once a person has agreed that it starts, where the policy of its work session asks for that.
	Agreed bool `json:"agreed,omitempty"`
	// Type is what kind of agent it is, such as "debugger": the person's word, or the CLI's for a native one. Scope is what
	// it shall do, as an excerpt without secrets.
	Type  string `json:"type,omitempty"`
	Scope string `json:"scope,omitempty"`
	// Parent is the execution whose process started a native one, and Key the CLI's own id of it.
	Parent ID     `json:"parent,omitempty"`
	Key    string `json:"key,omitempty"`
	// Claimed is set for a native one of which no request was seen: all of it is what its CLI says. It is set for all that
	// came with an archive, too. Usage of a native one is a part of its parent's.
	Claimed bool `json:"claimed,omitempty"`
	// Version is that of the agent's program, if it is known.
	Version string `json:"version,omitempty"`
	// Bundle is the id of the bundle that it was given, and Context how many tokens of context it was given before it began.
	Bundle  string `json:"bundle,omitempty"`
	Context int64  `json:"context,omitempty"`
	// Dir is the folder that it works in, Base the commit that its files are compared with, of a snapshot at its start if it
	// is ours, and Result that of a snapshot with its files at its end; "" if that is not known.
	Dir    string `json:"dir,omitempty"`
	Base   string `json:"base,omitempty"`
	Result string `json:"result,omitempty"`
	// Settled is set once what came of it, as it ended, is written down.
	Settled bool `json:"settled,omitempty"`
	// Given and Said are the numbers of the events with all of what it was asked (KindGiven) and all of its final message
	// (KindSaid); 0 if there is none. The store sets them.
	Given int64 `json:"given,omitempty"`
	Said  int64 `json:"said,omitempty"`
	// Replays is the execution that it repeats with the same context.
	Replays ID `json:"replays,omitempty"`
	// Part is the agent of a plan's task that it works as, the zero value for none. Without a round it is one that such an agent
	// has started.
	Part thread.Part `json:"part,omitzero"`
	// Host and User are where it was written down.
	Host string `json:"host,omitempty"`
	User string `json:"user,omitempty"`
}

// AgentType returns its Type, or the agent's name if it has none.
func (x Execution) AgentType() string { return cmp.Or(x.Type, x.Agent) }

// Disposal is what becomes of a thread's own worktree when its execution has ended.
type Disposal string

// The disposals. The branch keeps what was done unless it is dropped.
const (
	DisposeKeep   Disposal = ""       // the worktree stays
	DisposeBranch Disposal = "branch" // what is in it is committed to its branch, and the folder is removed
	DisposeMerge  Disposal = "merge"  // it is merged, and removed if there were no conflicts
	DisposeDrop   Disposal = "drop"   // it is removed with its branch; the snapshots of the thread's turns stay
)
