package work

import (
	"context"
	"time"

	"orchestrator/thread"
)

// Record stores what executions are for, what they were given and what came of them, in the same database as the
// executions themselves. What it returns without an error is durable. Errors are those of Store.
type Record interface {
	Store

	// AddSession stores a work session with its name: the next "work-NNN" of the project unless it has one. A name that is
	// taken is thread.ErrNameTaken.
	AddSession(ctx context.Context, s Session) (Session, error)
	// ChangeSession reads, changes and writes a work session in one transaction. An error of change is returned unchanged.
	ChangeSession(ctx context.Context, name string, change func(*Session) error) (Session, error)
	Session(ctx context.Context, name string) (Session, error)
	// Sessions lists some, newest first.
	Sessions(ctx context.Context, q SessionQuery) ([]Session, error)

	// ChangeTask reads, changes and writes a task of a work session in one transaction. Without one with the title, change is
	// given a new one, whose Created is zero; of a work session that is over, that is thread.ErrRefused. An error of change is
	// returned unchanged.
	ChangeTask(ctx context.Context, session, title string, change func(*Task) error) (Task, error)
	// Tasks returns those of a work session, oldest first.
	Tasks(ctx context.Context, session string) ([]Task, error)

	// Allocate adds pieces of context to those of an execution. What it has already (type, source, sections, bundle) is not
	// added again, but can become Included.
	Allocate(ctx context.Context, id ID, pieces []Allocation) error
	// Allocations returns those of an execution, oldest first.
	Allocations(ctx context.Context, id ID) ([]Allocation, error)

	// AddOutputs stores what came of an execution, in one transaction, and returns it numbered, with its versions. What the
	// execution has already (type, path, content) is returned as it is stored; of a path that is the newest version, so that
	// a file which is again as it was before is a new one.
	AddOutputs(ctx context.Context, id ID, outputs []Output) ([]Output, error)
	// End is Change and AddOutputs in one transaction: where it fails, neither has happened.
	End(ctx context.Context, id ID, fence int64, change func(*Execution) error, outputs []Output, events ...Event) (Execution, []Output, error)
	// Outputs lists some, newest first.
	Outputs(ctx context.Context, q OutputQuery) ([]Output, error)

	// PutBundle stores a bundle with the content of its pieces, by their hashes. One with the same Hash is returned as it is
	// stored. Its id is the next "bundle-NNN" unless it has one; an id that another bundle has is thread.ErrNameTaken.
	PutBundle(ctx context.Context, b KeptBundle, pieces map[string][]byte) (KeptBundle, error)
	// Bundle finds one by id or hash.
	Bundle(ctx context.Context, ref string) (KeptBundle, error)
	// Bundles lists some, newest first.
	Bundles(ctx context.Context, q BundleQuery) ([]KeptBundle, error)
	// Piece returns content by its hash; thread.ErrDamaged if it does not match.
	Piece(ctx context.Context, hash string) ([]byte, error)

	// Recorded lists executions of all kinds, newest first.
	Recorded(ctx context.Context, q RecordQuery) ([]Execution, error)
	// Stats sums up executions of all kinds.
	Stats(ctx context.Context, q StatsQuery) ([]Stat, error)
	// Written counts what a thread's agent has ever written down: work sessions, tasks, executions by hand, outputs and
	// bundles, and how many bytes they have as they are stored.
	Written(ctx context.Context, by thread.ID) (rows, bytes int64, err error)
}

// RecordQuery selects executions of all kinds.
type RecordQuery struct {
	Session string // "" for all
	Task    string // its title, in Session or else in any; "" for all
	Type    string // the agent type; "" for all
	Agent   string // the program; "" for all
	Model   string
	Bundle  string // the id of the bundle that they were given
	// Part restricts it to those of a plan's task: of one agent of it, and of one round, where those are set.
	Part   thread.Part
	Parent ID // only the native ones of this execution
	Thread thread.ID
	// Seen, if set, restricts it to executions of this thread, and those that its agent asked for or recorded.
	Seen   *thread.ID
	Kinds  []Kind  // none for all
	States []State // none for all
	Since  time.Time
	Until  time.Time
	// Words are lower-case words; only executions that have all of them in their name, type, scope, prompt, answer or in the
	// paths of their outputs.
	Words []string
	// Path restricts it to executions of which an output has this path.
	Path   string
	Before ID  // only older ones than this; "" for the newest
	Limit  int // 0 means 100; at most 1000
}

// StatBy is what executions are summed up by.
type StatBy string

// What executions can be summed up by.
const (
	StatByAgent   StatBy = "agent"
	StatByType    StatBy = "type"
	StatByModel   StatBy = "model"
	StatByBundle  StatBy = "bundle"
	StatBySession StatBy = "session"
	StatByOrigin  StatBy = "origin"
	StatByDay     StatBy = "day" // of Created, in UTC, 2006-01-02
)

// StatsQuery selects what is summed up.
type StatsQuery struct {
	By      StatBy
	Session string
	// Sessions are work sessions to which it is restricted; none for all.
	Sessions []string
	Type     string
	Kinds    []Kind
	Seen     *thread.ID // as in RecordQuery
	Since    time.Time
	Until    time.Time
	// Best, if set, restricts it to so many keys that are not "": those of which most completed, then those of which fewest
	// failed. They come in that order.
	Best int
}

// Stat sums up executions that share a key.
type Stat struct {
	Key       string       `json:"key"`
	Runs      int          `json:"runs"` // all but those that are queued
	Open      int          `json:"open"` // of those: not ended
	Completed int          `json:"completed"`
	Failed    int          `json:"failed"` // also cancelled and lost
	Usage     thread.Usage `json:"usage"`
	// Took is the sum of the time from start to end of those that have both.
	Took time.Duration `json:"took"`
}
