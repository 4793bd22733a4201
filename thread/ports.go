package thread

import (
	"context"
	"time"
)

// Threads stores threads. Implementations translate their drivers' errors into this package's.
type Threads interface {
	// CreateThread stores a new thread; ErrNameTaken when the name is used, archived ones included.
	CreateThread(context.Context, Thread) error
	// UpdateThread reads, changes and writes one thread in one transaction and returns the result.
	// An error of change is returned as it is and nothing is written.
	UpdateThread(ctx context.Context, id ID, change func(*Thread) error) (Thread, error)
	Thread(context.Context, ID) (Thread, error)
	// Threads returns all, archived and deleted ones included, oldest first.
	Threads(context.Context) ([]Thread, error)
	// PurgeThread removes a thread with the checkpoints that nothing else stands on.
	PurgeThread(context.Context, ID) error
}

// Checkpoints stores checkpoints. A put is durable, power cut included, when it returns.
type Checkpoints interface {
	// PutCheckpoint stores the checkpoint with what it adds to its parent and moves the thread's
	// Head, Turn, Gauge, Usage, Session and Updated, all in one transaction. Seq and Items are
	// filled in by the store and returned. The same checkpoint twice is stored once.
	PutCheckpoint(context.Context, Checkpoint, Delta) (Checkpoint, error)
	Checkpoint(context.Context, CheckpointID) (Checkpoint, error)
	// Checkpoints returns a thread's own checkpoints, newest first.
	Checkpoints(context.Context, ID, Page) ([]Checkpoint, error)
	// Lineage returns the checkpoints from one back to the root, newest first, across forks and
	// rewinds, at most Page.Limit of those that Page lets through (Before is a turn here).
	Lineage(context.Context, CheckpointID, Page) ([]Checkpoint, error)
	// Conversation returns the items of the whole conversation up to a checkpoint, first first.
	// Every piece is checked against its hash; ErrDamaged names what does not match.
	Conversation(context.Context, CheckpointID) ([]Item, error)
	// Transcript returns the native files as they were at a checkpoint.
	Transcript(context.Context, CheckpointID) ([]TranscriptFile, error)
	// Marks returns the same files' names, sizes and hashes without their content.
	Marks(context.Context, CheckpointID) ([]Mark, error)
}

// Executions stores runs of agent processes.
type Executions interface {
	// BeginExecution is durable before it returns; no process is started before.
	BeginExecution(context.Context, Execution) error
	// UpdateExecution sets the process id and the session once they are known.
	UpdateExecution(ctx context.Context, id ExecutionID, pid int, session string) error
	EndExecution(ctx context.Context, id ExecutionID, at time.Time, exit Exit) error
	// OpenExecutions returns those that never ended.
	OpenExecutions(context.Context) ([]Execution, error)
}

// Intents stores operations that were begun.
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

// Store is all of what the Manager keeps.
type Store interface {
	Threads
	Checkpoints
	Prompts
	Executions
	Intents
	Settings
}

// Spool keeps checkpoints that the store refuses until it takes them, in a place of its own.
type Spool interface {
	// Append keeps a checkpoint behind those of its thread that are kept already. It is durable, power cut
	// included, when Append returns; at finds it again.
	Append(Checkpoint, Delta) (at int64, err error)
	// Read returns one; ErrDamaged when it is not what was written.
	Read(id ID, at int64) (Checkpoint, Delta, error)
	// Kept lists what is kept. The threads that can be listed come with the error of those that cannot.
	Kept() (map[ID]Spooled, error)
	// Drop removes what is kept of a thread: the store has it all.
	Drop(ID) error
	// SetAside moves what is kept of a thread out of the way, for people to look at, and says where it is; "" where
	// there is nothing.
	SetAside(ID) (path string, err error)
}

// Spooled is what is kept of one thread.
type Spooled struct {
	Places []int64 // of the checkpoints, oldest first
	// Unreadable is how many bytes behind them are none: a checkpoint that a crash cut off while it was
	// written, or damage.
	Unreadable int64
	// Missing is how many that were kept are not there any more, or not as a whole.
	Missing int
}

// Agents finds agents by name.
type Agents interface {
	Agent(name string) (Agent, error) // ErrNotFound names those that exist
	Names() []string
}

// Agent is what the Manager asks of one coding agent's adapter.
type Agent interface {
	Name() string
	// Upstreams returns the addresses that the agent would send model requests to by the person's
	// own configuration, by name; "" is the main one. Nil when it cannot be sent through a gateway.
	Upstreams(env []string) map[string]string
	// Launch lays out how to start the agent. It may write files below spec.StateDir only.
	Launch(ctx context.Context, spec LaunchSpec) (Launch, error)
}

// ConfigFiles is an agent that obeys files of the project: instructions, permissions, programs to start.
// Optional for an Agent.
type ConfigFiles interface {
	// Obeys names them, slash-separated and relative to a folder of the project; a name that ends with a
	// slash stands for all below a folder.
	ConfigFiles() []string
}

// LocalFiles is an agent that looks for files of the person's beside the project's own, which git usually
// ignores and a worktree elsewhere therefore lacks. Optional for an Agent.
type LocalFiles interface {
	// LocalFiles names them as Obeys does.
	LocalFiles() []string
}

// Detector is an agent that can tell whether it can be started here. Optional for an Agent.
type Detector interface {
	Detect(ctx context.Context) AgentInfo
}

// LaunchSpec is what an agent is to be started with. What it is told first is not part of it: prompts are
// typed, so that they never stand in arguments, which others on the machine can read.
type LaunchSpec struct {
	Thread   ID
	Dir      string   // working folder
	StateDir string   // 0700, for this thread's per-launch files
	Env      []string // the environment to start from, KEY=VALUE
	Flags    Flags
	Model    string
	// BaseURL is the gateway's address for this thread, empty without one; named upstreams stand
	// at BaseURL + "/@name".
	BaseURL string
	// HookURL takes the agent's hook reports: POST HookURL + "/" + event, the payload as body.
	HookURL string
	// Session is the id to take: chosen by the adapter when empty, resumed when Resume is set.
	Session string
	Resume  bool
	// Origin is the folder of the person's that Dir is a copy of, where Dir lies in a worktree of ours: what
	// the person said of one holds for the other. Empty otherwise.
	Origin string
	// ReadDirs are absolute folders of ours that the agent may read without a question, and may not
	// write to where its CLI can deny that.
	ReadDirs []string
	// Bin is the absolute folder that holds our program as "orchestrator", first on the agent's PATH;
	// empty where there is none.
	Bin string
}

// Launch is how to start an agent's process.
type Launch struct {
	Path string
	Args []string // without the program itself
	Env  []string
	Dir  string
	// Session is the session id where it is known before the start.
	Session string
	// Ready is how long after its first output the agent may swallow keys; prompts wait for it.
	Ready time.Duration
}

// Transcriber is an agent whose native transcript can be read. Optional for an Agent.
type Transcriber interface {
	// ReadTranscript returns what the native files gained over the marks. With an answer, it waits
	// until spec.By, for up to a second, until the files hold it, and returns nothing of the turn that follows it.
	ReadTranscript(ctx context.Context, spec TranscriptSpec) ([]Chunk, error)
}

// TranscriptSpec names a session whose native files are to be read.
type TranscriptSpec struct {
	Session string
	Dir     string
	Env     []string
	Marks   []Mark
	Answer  string // last assistant text, empty when there is none to wait for
	// By is when the wait for it ends; a second from now where it is zero.
	By time.Time
}

// Rebuilder is an agent whose sessions can be written from stored files. Optional for an Agent.
type Rebuilder interface {
	// Rebuild writes native files so that the agent resumes spec.Session with exactly their
	// content, under spec.NewSession where that is set. It never overwrites a session that has more
	// than the given files. It returns the session id to resume, which may differ where the agent
	// chooses ids itself.
	Rebuild(ctx context.Context, spec RebuildSpec) (session string, err error)
}

// RebuildSpec is what a native session is written from.
type RebuildSpec struct {
	Session    string // the one the files came from
	NewSession string // the one to make; empty makes Session anew
	FromDir    string
	Dir        string // where the agent will run
	StateDir   string
	Env        []string
	Files      []TranscriptFile
	Answer     string // that the conversation ends with, empty where it ends otherwise
}

// Verifier is an agent that can say whether a session's native files match. Optional for an Agent.
type Verifier interface {
	// Verify compares the native files with the marks: how many bytes match, and whether the
	// files hold all of them. More bytes than marked are right: the agent wrote on.
	Verify(ctx context.Context, spec TranscriptSpec) (matched int64, whole bool, err error)
}

// UsageReader is an agent whose transcript tells usage, for threads without a gateway.
// Optional for an Agent.
type UsageReader interface {
	// ReadUsage returns the responses that chunks hold.
	ReadUsage(chunks []Chunk) ([]Exchange, error)
}

// Windower is an agent that can be told how much models hold. Optional for an Agent.
type Windower interface {
	// Windows returns what the person's own configuration of the agent says: tokens by model, or by a pattern as
	// path.Match takes it. Nil where it says nothing.
	Windows(env []string) map[string]int64
}

// Models knows models by their names.
type Models interface {
	// Window returns the context window in tokens, 0 when it is unknown; used is what stands in it, agents what
	// the agent is configured with.
	Window(model string, used int64, agents map[string]int64) int64
	// Cost returns the price of a response in USD, false when it is unknown.
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
	// OnState hears every change of state; it must not block.
	OnState func(StateReport)
	// OnExit hears the end, once.
	OnExit func(Exit)
	// OnReady hears, after a Send that returned a NotReadyError, that its reason is another one now or gone: what
	// was not sent can be tried again. It must not block; nil hears nothing.
	OnReady func()
}

// Session is a running agent in its terminal.
type Session interface {
	PID() int
	State() StateReport
	// Report adds evidence from outside: the gateway's, a hook's.
	Report(Evidence)
	// Send types a prompt into the empty input of an agent that waits for one, and returns when the agent took it.
	// NotReadyError when it does not wait for one: nothing was typed, and the person's draft, the menu or the turn
	// that runs is untouched. An error that is ErrTyped leaves the prompt in the input, not sent.
	Send(ctx context.Context, text string) error
	// Input passes bytes on as typed.
	Input([]byte) error
	Resize(cols, rows int) error
	// Stop asks the process group to end, then makes it; it returns when nothing is left of it.
	Stop(ctx context.Context, grace time.Duration) error
	Done() <-chan struct{}
}

// Gateway carries the model requests of threads.
type Gateway interface {
	// Route opens a way for a thread and returns its secret base URL and the URL for hooks.
	// Routing a thread again gives the same URLs with the new upstreams.
	Route(id ID, spec RouteSpec) (baseURL, hookURL string, err error)
	// Unroute closes it.
	Unroute(ID)
}

// RouteSpec is what a thread's requests need on their way.
type RouteSpec struct {
	Agent string
	// Upstreams are the addresses to carry requests to, by name; see Agent.Upstreams.
	Upstreams map[string]string
	// Windows are what the agent is configured with; see Windower.
	Windows map[string]int64
}

// Exchange is one model request with its response, seen whole.
type Exchange struct {
	// Main is set for the thread's conversation; false for titles, classifiers, sub-agents,
	// token counting and the agent's own compaction.
	Main bool
	// Purpose says what a side request is for: "title", "subagent", "count", "compaction", "other".
	Purpose string
	Model   string
	Session string // the session id the request named, if any
	Started time.Time
	Ended   time.Time
	Status  int // HTTP status of the response, 0 when there was none
	// Items is the conversation in the request; Answer the response's message, nil when none came.
	Items  []Item
	Answer *Item
	// Prompt is the text of the newest message of the person in Items; Text the answer's text.
	Prompt string
	Text   string
	// Tools names the tools that the answer calls.
	Tools  []string
	Usage  Usage
	Window int64 // the model's context window, 0 when unknown
	Stop   string
	// EndsTurn is set when the agent now waits for the person: no tool is to run. Never for a side
	// request.
	EndsTurn bool
	// Interrupted is set when the answer was cut off; Err says how.
	Interrupted bool
	Err         string
	// Fault says what kind of failure it was where the status does not.
	Fault Fault
	// Until is when a limit ends, as far as the provider said so.
	Until time.Time
	// Quotas is what the provider said of its limits.
	Quotas []Quota
	// Unread is set when the answer came but could not be read: nobody knows what it says.
	Unread bool

	// Bytes is what the exchange takes of memory. An observer that holds some of it after ExchangeEnded calls Keep,
	// which may be nil, with how much that is, and release once that is stored: what is held is bounded, and the
	// thread's next request waits where it is too much.
	Bytes int64
	Keep  func(bytes int64) (release func())
}

// Fault says how a request failed, where its status does not.
type Fault string

// The faults.
const (
	FaultNone         Fault = ""
	FaultAgent        Fault = "agent"        // the agent closed the connection
	FaultUnreachable  Fault = "unreachable"  // there was no connection to the provider
	FaultCut          Fault = "cut"          // the provider broke the answer off
	FaultNoAnswer     Fault = "no answer"    // what came is no model's answer: a page of a proxy
	FaultLimited      Fault = "limited"      // the answer holds an error instead, of this kind
	FaultUnauthorised Fault = "unauthorised" // likewise
	FaultError        Fault = "error"        // likewise, of another kind
)

// Begun is a model request that is under way.
type Begun struct {
	Main  bool
	Model string
	At    time.Time
	// Again is set where it asks for the same as the thread's main request before it, which failed.
	Again bool
	// Prompt is the text of the person's newest message in it.
	Prompt string
}

// Stage is what is known of a main request before it ends.
type Stage string

// The stages.
const (
	StageUnconnected Stage = "unconnected" // there is no connection to the provider after a while
	StageSilent      Stage = "silent"      // the provider has not begun to answer after a while
	StageAnswering   Stage = "answering"   // it does now, or: the answer to a request that was repeated has begun
)

// Observer hears what the gateway carries. The gateway implements none of it; the Manager does.
type Observer interface {
	// RequestStarted is called when a request is under way, maybe some time after it began.
	RequestStarted(id ID, b Begun)
	// RequestReached is called for a main request between its start and its end, when there is news of it.
	RequestReached(id ID, s Stage, at time.Time)
	// Spoke is called with what a main request's answer says, as it comes, after RequestStarted and with Done before
	// ExchangeEnded. It must not block.
	Spoke(id ID, s Speech)
	// ExchangeEnded is called once for every request, after the last byte went to the agent.
	// Exchanges of one thread are told in the order in which they ended.
	ExchangeEnded(id ID, e Exchange)
	// Hook is called for an agent's hook report.
	Hook(id ID, event string, payload []byte)
}

// Worktrees keeps the files of threads: snapshots in git and worktrees of their own.
type Worktrees interface {
	// Take makes a snapshot of a folder's worktree for a thread; prev is the one before, for the
	// counts and for nothing new when nothing changed. ErrNoRepository without git.
	Take(ctx context.Context, id ID, dir string, prev *Snapshot) (Snapshot, error)
	// Add makes a worktree for a thread on a new branch at a snapshot of the repository that
	// dir belongs to, changes uncommitted as they were.
	Add(ctx context.Context, id ID, dir, name string, at Snapshot) (Worktree, error)
	// Remove saves what is uncommitted and removes a worktree that Add made.
	Remove(ctx context.Context, id ID, w Worktree) (Snapshot, error)
	// Restore sets a folder's files to a snapshot and returns the safety snapshot from before.
	Restore(ctx context.Context, id ID, dir string, at Snapshot) (safety Snapshot, err error)
	// RestoreOnly is Restore for some paths alone, slash-separated and relative to the worktree's root; all
	// others stay as they are.
	RestoreOnly(ctx context.Context, id ID, dir string, at Snapshot, paths []string) (safety Snapshot, err error)
	// Drop forgets a purged thread's snapshots.
	Drop(ctx context.Context, id ID) error
	// Repair finishes or takes back what was cut off and says what it did, for people.
	Repair(ctx context.Context) ([]string, error)
	// Describe says how a worktree stands, for people: "clean", "3 files changed", "missing".
	Describe(ctx context.Context, dir string) string
}
