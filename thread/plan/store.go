package plan

import (
	"context"
	"errors"
	"time"

	"orchestrator/thread"
)

// ErrSame means that a version with the same content is the current one already: nothing was written.
var ErrSame = errors.New("it is handed over already")

// Store keeps tasks, their nodes and what is handed over, in the same database as the executions. What it returns without an
// error is durable. Errors are those of package thread; work.ErrFence where a fence is not that which is stored, and then
// nothing is written but an event. Each change of a state becomes
// an event by itself, in the same transaction.
type Store interface {
	// AddTask stores a task, with its name and id, and its nodes in one transaction. The nodes' edges lead to earlier waves of
	// the same task only: else thread.ErrInvalid, by a constraint of the database where it has one.
	AddTask(ctx context.Context, t Task, nodes []Node) (Task, error)
	// BeginTask puts a plan at work on a Pending or Proposed task, in one transaction: its document, its nodes, InProgress, the
	// server, a new fence. Of two at once the other gets work.ErrFence.
	BeginTask(ctx context.Context, name string, change func(*Task) error, nodes []Node) (Task, error)
	// TakeTask is BeginTask for the first of the pending tasks of an armed plan, unless AtOnce of its tasks are at work, or it
	// is not armed; then ok is false. A task is taken once, however many ask. nodes makes the nodes of the task.
	TakeTask(ctx context.Context, planName, server string, at time.Time, nodes func(Task) ([]Node, error)) (t Task, ok bool, err error)
	// ChangeTask reads, changes and writes a task in one transaction, if fence is that which is stored. An error of change is
	// returned unchanged.
	ChangeTask(ctx context.Context, name string, fence int64, change func(*Task) error) (Task, error)
	// Supersede is ChangeTask for who takes a task over, whatever its fence is, and raises it.
	Supersede(ctx context.Context, name string, change func(*Task) error) (Task, error)
	// Task finds one by name or id.
	Task(ctx context.Context, ref string) (Task, error)
	// Tasks lists some: without Plan documents unless the query asks for them.
	Tasks(ctx context.Context, q TaskQuery) ([]Task, error)

	// Node returns one, Nodes all of a task by Number.
	Node(ctx context.Context, task, agent string) (Node, error)
	Nodes(ctx context.Context, task string) ([]Node, error)
	// ChangeNodes changes some nodes of a task in one transaction, each with the fence that is stored. Change is called for each
	// with what is stored, in the order of the names.
	ChangeNodes(ctx context.Context, task string, fences map[string]int64, change func(*Node) error) ([]Node, error)

	// Deliver stores another version of what a node hands over, makes it the current one, changes the node and marks the nodes
	// that were given another version as stale, in one transaction. With the same content as the current version it is ErrSame
	// with that, and the node is changed all the same. Fence is the node's; a person's, who has none, is Anyway.
	Deliver(ctx context.Context, h HandOver, fence int64, change func(*Node) error) (HandOver, []Node, error)
	// HandOver returns one version, the current one for 0.
	HandOver(ctx context.Context, task, agent string, version int) (HandOver, error)
	// HandOvers lists some, newest first.
	HandOvers(ctx context.Context, q HandOverQuery) ([]HandOver, error)
	// Opens returns the versions whose Data or a file has a token, newest first: who may open it follows from them.
	Opens(ctx context.Context, token thread.Token) ([]HandOver, error)
	// SetToken notes the token of a version's Data.
	SetToken(ctx context.Context, task, agent string, version int, token thread.Token) error

	// Note adds events to a task.
	Note(ctx context.Context, task string, events ...Event) error
	// Events returns at most limit events of a task that follow on after, oldest first; a limit of 0 means 1000.
	Events(ctx context.Context, task string, after int64, limit int) ([]Event, error)

	// Arm stores a plan as armed, or not; one of the same name is replaced.
	Arm(ctx context.Context, a Armed) error
	// Armed returns the plans that were armed once, by name.
	Armed(ctx context.Context) ([]Armed, error)

	// PurgeTasks removes final tasks that ended before a time, with all that is theirs, at most limit, and returns their names.
	PurgeTasks(ctx context.Context, before time.Time, limit int) ([]string, error)
}

// Anyway is the fence of a write that holds whatever the fence is: a person's.
const Anyway int64 = -1

// TaskQuery selects tasks.
type TaskQuery struct {
	Statuses []Status  // none for all
	Plan     string    // the plan's name, "" for all
	Session  string    // "" for all
	Server   string    // only those that this server has; "" for all
	By       thread.ID // only those that this thread's agent asked for; "" for all
	Since    time.Time // only those created since
	// Documents has them come with their plans.
	Documents bool
	Before    string // only older ones than this name; "" for the newest
	Oldest    bool   // oldest first, in the order in which they would be taken
	Limit     int    // 0 means 100; at most 1000
}

// HandOverQuery selects versions.
type HandOverQuery struct {
	Task, Agent string // "" for all
	Current     bool   // only current ones
	// Whole is how many bytes of Data are returned of each; 0 for all.
	Whole  int
	Before string // only older ones than this id; "" for the newest
	Limit  int    // 0 means 100; at most 1000
}
