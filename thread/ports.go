package thread

import (
	"context"
	"errors"
	"io"
	"time"
)

// Threads stores threads. Implementations translate their drivers' errors into this package's.
type Threads interface {
	// CreateThread stores a new thread; ErrNameTaken if the name exists, archived threads included.
	CreateThread(context.Context, Thread) error
	// UpdateThread reads, changes and writes one thread in one transaction and returns the result. If change returns an
	// error, it is returned unchanged and nothing is written.
	UpdateThread(ctx context.Context, id ID, change func(*Thread) error) (Thread, error)
	Thread(context.Context, ID) (Thread, error)
	// Threads returns all, archived and deleted ones included, oldest first.
	Threads(context.Context) ([]Thread, error)
	// SelectThreads returns those that a query selects, oldest first unless it says otherwise, and where the next page
	// begins, 0 if there is none. It reads no others. As in Threads, a record that cannot be read is left out.
	SelectThreads(context.Context, Query) (list []Thread, next int64, err error)
	// PurgeThread removes a thread with the checkpoints that nothing else is based on.
	PurgeThread(context.Context, ID) error
}

// Checkpoints stores checkpoints. A put is durable, also across a power cut, when it returns.
type Checkpoints interface {
	// PutCheckpoint stores the checkpoint with what it adds to its parent and updates the thread's Head, Turn, Gauge,
	// Usage, Session and Updated, all in one transaction. The store fills in Seq and Items and returns them. Storing the
	// same checkpoint twice stores it once.
	PutCheckpoint(context.Context, Checkpoint, Delta) (Checkpoint, error)
	Checkpoint(context.Context, CheckpointID) (Checkpoint, error)
	// Checkpoints returns a thread's own checkpoints, newest first. One whose content cannot be read is Damaged, here and
	// in Lineage: it hides no other.
	Checkpoints(context.Context, ID, Page) ([]Checkpoint, error)
	// Lineage returns the checkpoints from one back to the root, newest first, across forks and rewinds, at most
	// Page.Limit of those that Page selects (Before is a turn here).
	Lineage(context.Context, CheckpointID, Page) ([]Checkpoint, error)
	// Conversation returns the items of the whole conversation up to a checkpoint, oldest first. Every piece is checked
	// against its hash; ErrDamaged names one that does not match.
	Conversation(context.Context, CheckpointID) ([]Item, error)
	// Transcript returns the native files as they were at a checkpoint.
	Transcript(context.Context, CheckpointID) ([]TranscriptFile, error)
	// Marks returns the names, sizes and hashes of the same files without their content.
	Marks(context.Context, CheckpointID) ([]Mark, error)
}

// Executions stores runs of agent processes.
type Executions interface {
	// BeginExecution is durable before it returns; no process starts before that.
	BeginExecution(context.Context, Execution) error
	// UpdateExecution sets the process id and the session once they are known.
	UpdateExecution(ctx context.Context, id ExecutionID, pid int, session string) error
	EndExecution(ctx context.Context, id ExecutionID, at time.Time, exit Exit) error
	// OpenExecutions returns those that never ended.
	OpenExecutions(context.Context) ([]Execution, error)
}

// Intents stores operations that have begun.
type Intents interface {
	PutIntent(context.Context, Intent) error
	DropIntent(ctx context.Context, id string) error
	Intents(context.Context) ([]Intent, error)
}

// Settings stores small values of the project, such as how forks are offered.
type Settings interface {
	Setting(ctx context.Context, key string) (string, error) // "" when it is not set
	SetSetting(ctx context.Context, key, value string) error
}

// Store is everything that the Manager stores.
type Store interface {
	Threads
	Checkpoints
	Prompts
	Executions
	Intents
	Settings
}

// Spool keeps checkpoints that the store refuses, in a place of its own, until the store accepts them.
type Spool interface {
	// Append adds a checkpoint to those of its thread. It is durable, also across a power cut, when Append returns; at
	// finds it again.
	Append(Checkpoint, Delta) (at int64, err error)
	// Read returns one; ErrDamaged if it is not what was written.
	Read(id ID, at int64) (Checkpoint, Delta, error)
	// Kept lists the spooled checkpoints. If some threads cannot be listed, the others are returned with the error.
	Kept() (map[ID]Spooled, error)
	// Drop removes the checkpoints of a thread: the store has them all.
	Drop(ID) error
	// SetAside moves the checkpoints of a thread out of the way for people to inspect, and returns their path; "" if there
	// are none.
	SetAside(ID) (path string, err error)
}

// Spooled is what the spool has of one thread.
type Spooled struct {
	Places []int64 // of the checkpoints, oldest first
	// Unreadable is how many bytes after them are unreadable: a checkpoint that a crash cut off while it was written, or
	// damage.
	Unreadable int64
	// Missing is how many that were spooled are missing or incomplete.
	Missing int
}

// Agents finds agents by name.
type Agents interface {
	Agent(name string) (Agent, error) // ErrNotFound names those that exist
	Names() []string
}

// Agent is the adapter of one coding agent, as the Manager uses it.
type Agent interface {
	Name() string
	// World reads what surrounds the agent: where it would send its model requests by its own configuration, and how. An
	// error names what cannot be read; where the requests would go is then not known.
	World(WorldSpec) (World, error)
	// Launch prepares the start of the agent. It may write files below spec.StateDir only.
	Launch(ctx context.Context, spec LaunchSpec) (Launch, error)
}

// Prompted is an agent whose input takes a text as one prompt and never runs it. Any other program may run each line
// that is typed into it, as a shell does, whatever its terminal modes are: only what the person agreed to is typed
// there. Optional for an Agent.
type Prompted interface {
	// Prompted does nothing.
	Prompted()
}

// RunsLines reports whether an agent's program may run what is typed into it: it is not Prompted.
func RunsLines(a Agent) bool {
	_, prompted := a.(Prompted)
	return !prompted
}

// ConfigFiles is an agent that is configured by files of the project: instructions, permissions, programs to start.
// Optional for an Agent.
type ConfigFiles interface {
	// ConfigFiles names them, slash-separated and relative to a folder of the project; a name that ends with a slash
	// stands for all files below a folder.
	ConfigFiles() []string
}

// LocalFiles is an agent that reads personal files beside the project's own, which git usually ignores and a worktree
// elsewhere therefore lacks. Optional for an Agent.
type LocalFiles interface {
	// LocalFiles names them as ConfigFiles does.
	LocalFiles() []string
}

// Detector is an agent that can tell whether it can be started here. Optional for an Agent.
type Detector interface {
	Detect(ctx context.Context) AgentInfo
}

// LaunchSpec describes how to start an agent. It does not include the first prompt: prompts are typed, so that they never
// appear in arguments, which others on the machine can read.
type LaunchSpec struct {
	Thread ID
	// Once is on for a start without a terminal.
	Once     Once
	Dir      string   // working folder
	StateDir string   // 0700, for this thread's per-launch files
	Env      []string // the environment to start from, KEY=VALUE
	Flags    Flags
	Model    string
	// BaseURL is the gateway's address for this thread, "" without a gateway; named upstreams are at BaseURL + "/@name".
	BaseURL string
	// HookURL accepts the agent's hook reports: POST HookURL + "/" + event, with the payload as body.
	HookURL string
	// Session is the session id: chosen by the adapter when empty, resumed when Resume is set.
	Session string
	Resume  bool
	// Origin is the person's folder that Dir is a copy of, if Dir is in one of our worktrees: what the person decided for
	// one applies to the other. Empty otherwise.
	Origin string
	// ReadDirs are absolute folders of ours that the agent may read without asking, and may not write to if its CLI can
	// deny that.
	ReadDirs []string
	// Bin is the absolute folder that has our program as "orchestrator", first on the agent's PATH; "" if there is none.
	Bin string
	// Base are the names of the levers that the agent leaves out of its base, sorted. The same names give the same
	// arguments, files and variables at each start.
	Base []string
	// BaseVersion is the version of the agent's CLI with which Base was chosen, "" if that is not known.
	BaseVersion string
	// MCP is the one MCP server that the agent shall have; nil leaves it to its own configuration.
	MCP *MCPLaunch
}

// Launch is how to start an agent's process.
type Launch struct {
	Path string
	Args []string // without the program itself
	Env  []string
	Dir  string
	// Session is the session id if it is known before the start.
	Session string
	// Ready is how long after its first output the agent may ignore keys; prompts wait for it.
	Ready time.Duration
	// Loaded reports whether the agent has loaded the conversation that it resumes; prompts wait for it. It is nil if the
	// agent shows its input only then.
	Loaded func() bool
	// MCP is what became of the server that it was given.
	MCP MCPReach
	// Unused says of levers of LaunchSpec.Base why they are not used, or only in a part: the person's own settings decide it,
	// or the CLI is one that cannot be told.
	Unused map[string]string
}

// Transcriber is an agent whose native transcript can be read. Optional for an Agent.
type Transcriber interface {
	// ReadTranscript returns what was added to the native files since the marks. With an answer, it waits until spec.By,
	// at most a second, until the files contain it, and returns nothing of the next turn. An answer in the lines that the
	// marks know is an earlier turn's, also if the file is read from its beginning.
	ReadTranscript(ctx context.Context, spec TranscriptSpec) ([]Chunk, error)
}

// TranscriptSpec names a session whose native files are to be read.
type TranscriptSpec struct {
	Session string
	Dir     string
	Env     []string
	Marks   []Mark
	Answer  string // last assistant text, "" if there is none to wait for
	// By is when the wait for it ends; zero means in a second.
	By time.Time
}

// Rebuilder is an agent whose sessions can be written from stored files. Optional for an Agent.
type Rebuilder interface {
	// Rebuild writes native files so that the agent resumes spec.Session with exactly their content, under spec.NewSession
	// if that is set. It never overwrites a session that has more than the given files. It returns the session id to
	// resume, which may differ if the agent chooses ids itself.
	Rebuild(ctx context.Context, spec RebuildSpec) (session string, err error)
}

// RebuildSpec describes what to write a native session from.
type RebuildSpec struct {
	Session    string   // the session that the files came from
	NewSession string   // the session to write; empty rewrites Session
	FromDirs   []string // where its agent has run: a project may have moved
	Dir        string   // where the agent will run
	StateDir   string
	Env        []string
	Files      []TranscriptFile
	Answer     string // that the conversation ends with, "" if it ends otherwise
}

// ErrElsewhere means that an agent would run a session in another folder than it is started in.
var ErrElsewhere = errors.New("the session works in another folder")

// Verifier is an agent that can verify a session's native files. Optional for an Agent.
type Verifier interface {
	// Verify compares the native files with the marks: how many bytes match, and whether the files contain all of them.
	// More bytes than marked are fine: the agent has written more. ErrElsewhere is for a session that names its folder.
	Verify(ctx context.Context, spec TranscriptSpec) (matched int64, whole bool, err error)
}

// SessionFinder is an agent that names its session itself, and tells only its model of it. Optional for an Agent.
type SessionFinder interface {
	// FindSession returns the session that an agent has opened, "" if there is none yet or it is not certain which.
	FindSession(ctx context.Context, spec FindSpec) (string, error)
}

// FindSpec describes how an agent was started.
type FindSpec struct {
	Dir, StateDir string // as in LaunchSpec
	Env           []string
	Since         time.Time
	// Prompts are those that the agent was asked and that no turn answers yet; none says nothing.
	Prompts []string
	// Taken reports whether a session is another thread's.
	Taken func(session string) bool
	// Rivals is set if other threads' agents in the same folder have no session yet either.
	Rivals bool
}

// UsageReader is an agent whose transcript contains usage, for threads without a gateway. Optional for an Agent.
type UsageReader interface {
	// ReadUsage returns the responses in chunks.
	ReadUsage(chunks []Chunk) ([]Exchange, error)
}

// Models knows models by their names.
type Models interface {
	// Window returns the context window in tokens, 0 if it is unknown; used is how many tokens are in it, agents are the
	// windows from the agent's configuration.
	Window(model string, used int64, agents map[string]int64) int64
	// Cost returns the price of a response in USD, false if it is unknown.
	Cost(model string, u Usage) (usd float64, priced bool)
}

// Sessions starts agents in terminals.
type Sessions interface {
	Start(ctx context.Context, spec SessionSpec) (Session, error)
}

// SessionSpec is one agent process to start.
type SessionSpec struct {
	Thread     ID
	Agent      string
	Launch     Launch
	Cols, Rows int
	// Dialogue is set for a process without a terminal: it gets pipes, and its terminal shows a log of what it reports.
	Dialogue Dialogue
	// OnRun is called with what a process without a terminal reports, in order: at last, before OnExit, with a RunEnd, once.
	// It must not block, nor prompt or end the session itself, and may be nil.
	OnRun func(RunEvent)
	// Raw, if set, gets what a process without a terminal prints, on one goroutine, before OnExit.
	Raw io.Writer
	// OnState is called with every change of state; it must not block.
	OnState func(StateReport)
	// OnExit is called at the end, once.
	OnExit func(Exit)
	// OnReady is called after a Send that returned a NotReadyError when its reason has changed or gone: the prompt can be
	// tried again. It must not block and may be nil.
	OnReady func()
}

// Session is a running agent in its terminal.
type Session interface {
	PID() int
	State() StateReport
	// Report adds evidence from outside: from the gateway or a hook.
	Report(Evidence)
	// Send types a prompt into the empty input of an agent that waits for one, and returns when the agent took it. It
	// returns NotReadyError if the agent does not wait for one: nothing was typed, and the person's draft, the menu or the
	// running turn is untouched. An agent without a terminal takes one that it works on already as a further prompt of its
	// turn, if its Dialogue is a Steerer. An error that is ErrTyped leaves the prompt in the input, unsent. After one that is
	// ErrNoReaction or ErrSent the return was pressed, and the prompt must not be typed again: nothing shows whether the
	// program took it, or Send could not see that.
	Send(ctx context.Context, text string) error
	// Answer chooses one of the choices of the dialog that the agent shows, or dismisses it, if that is still the question
	// with this id and has stood still; else the error is ErrRefused and nothing was chosen.
	Answer(ctx context.Context, question string, choice int) error
	// Decide has something else answer the dialog that the agent shows, if that is still the question with this id and the
	// person has typed nothing into it: decide is called, which must not block, and does it or not. Then Decide waits as
	// Answer does.
	Decide(ctx context.Context, question string, decide func() bool) (decided bool, err error)
	// Input passes bytes on as typed.
	Input([]byte) error
	Resize(cols, rows int) error
	// Stop asks the process group to exit, then kills it; it returns when nothing is left of it.
	Stop(ctx context.Context, grace time.Duration) error
	Done() <-chan struct{}
}

// Readier is a session that can tell whether a prompt could be typed now. Optional for a Session.
type Readier interface {
	// Ready returns why none can, nil if one can: the input is empty, and the agent waits.
	Ready() error
}

// Replier is a session that answers in the person's own words. Optional for a Session.
type Replier interface {
	// Reply is Answer with a text that goes with the choice, or is the answer by itself if that is Dismiss. For an agent in a
	// terminal the error is ErrUnsupported: its dialog is left, and the text is its next prompt.
	Reply(ctx context.Context, question string, choice int, text string) error
}

// Canceller is a session that can end its running turn in good order. Optional for a Session.
type Canceller interface {
	// Cancel asks the agent to end its turn, and ends it a moment later; within a second nothing is left of it. For an agent
	// in a terminal the error is ErrUnsupported.
	Cancel(ctx context.Context) error
}

// Worktrees keeps the files of threads: snapshots in git and worktrees of their own.
type Worktrees interface {
	// Take takes a snapshot of a folder's worktree for a thread; prev is the previous one, for the counts and so that
	// nothing new is stored if nothing changed. ErrNoRepository without git.
	Take(ctx context.Context, id ID, dir string, prev *Snapshot) (Snapshot, error)
	// Add creates a worktree for a thread on a new branch at a snapshot of the repository that dir belongs to, with
	// uncommitted changes as they were.
	Add(ctx context.Context, id ID, dir, name string, at Snapshot) (Worktree, error)
	// Remove saves uncommitted changes and removes a worktree that Add made.
	Remove(ctx context.Context, id ID, w Worktree) (Snapshot, error)
	// Restore restores a folder's files from a snapshot and returns the safety snapshot taken before.
	Restore(ctx context.Context, id ID, dir string, at Snapshot) (safety Snapshot, err error)
	// RestoreOnly is Restore for some paths only, slash-separated and relative to the worktree's root; all others stay as
	// they are.
	RestoreOnly(ctx context.Context, id ID, dir string, at Snapshot, paths []string) (safety Snapshot, err error)
	// Drop deletes a purged thread's snapshots.
	Drop(ctx context.Context, id ID) error
	// Repair completes or rolls back interrupted operations and says what it did, for people.
	Repair(ctx context.Context) ([]string, error)
	// Describe describes the state of a worktree for people: "clean", "3 files changed", "missing".
	Describe(ctx context.Context, dir string) string
}
