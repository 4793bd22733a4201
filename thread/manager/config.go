package manager

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/attachment"
	"orchestrator/thread/budget"
	"orchestrator/thread/manager/ledger"
	"orchestrator/thread/manager/runs"
	exec "orchestrator/thread/work"
)

// Limits bounds what a project may have at once. Zero means no limit.
type Limits struct {
	Depth   int // nested forks
	Running int // running agents
	// Primer is the most tokens that a handoff may cost; 0 means 12,000.
	Primer int
	// Grace is how long an agent gets to exit by itself when it is stopped; 0 means 5 seconds.
	Grace time.Duration
	// Continue resends a prompt that a provider's limit refused when the limit ends.
	Continue bool
}

// WorktreeMode is when a new thread gets its own worktree without being asked.
type WorktreeMode string

// The modes.
const (
	WorktreeNever  WorktreeMode = ""       // never
	WorktreeShared WorktreeMode = "shared" // if another thread in use works in the folder
	WorktreeAlways WorktreeMode = "always"
)

// Config configures a Manager. Project, StateDir, Store, Agents and Sessions are required; the others may be nil.
type Config struct {
	Project string   // the project's folder, absolute
	Moved   []string // earlier paths of the project's folder
	// Place refuses a folder in which no agent may work; nil refuses none.
	Place    func(dir string) error
	StateDir string // our own, 0700
	Bin      string // folder with our program, for the agents' PATH; "" for none
	Store    thread.Store
	Spool    thread.Spool // keeps checkpoints that the store refuses; nil keeps them in memory only
	Agents   thread.Agents
	Sessions thread.Sessions

	Worktrees thread.Worktrees
	Reader    thread.Reader
	Differ    thread.Differ
	Finder    thread.Finder
	Merges    thread.Merges
	Setup     thread.SetupRunner // may be nil
	// Models fills in what transcripts lack; may be nil.
	Models thread.Models

	// Tokens counts the tokens of a text; nil counts four bytes per token.
	Tokens func(text string) int
	Clock  func() time.Time // time.Now when nil
	Env    []string         // the environment that agents start from, as in os.Environ
	Limits Limits
	Offers thread.OfferMode
	// Base is which profile a thread's agent is started with.
	Base thread.BaseConfig
	// NewWorktree is when a new thread gets its own worktree without being asked.
	NewWorktree WorktreeMode
	// MergeNote is whether the target's agent is told about a merge; NoteAsk when empty.
	MergeNote thread.NoteMode
	// Mend sets a thread whose newest turns cannot be read back to what can be, and rebuilds what followed; "" if nothing
	// was to be done. Its agent does not run meanwhile. May be nil.
	Mend func(context.Context, thread.ID) (said string, err error)
	// MCP controls the MCP servers of agents; nil leaves them to the agents.
	MCP thread.MCP
	// Readable returns more folders that the agent of a thread may read without asking; nil for none.
	Readable func(thread.Thread) ([]string, error)
	// Stage stores what is too large for a handoff under a token, and says where it is; nil for files only.
	Stage func(context.Context, thread.StageRequest, io.Reader) (thread.StagedInfo, error)
	// Runs is how agents work without a terminal.
	Runs RunsConfig
	// Budget is what may be spent.
	Budget BudgetConfig
	Log    *slog.Logger // discarded when nil
	// OnNotice is called with every notice, including those of Open; it must not block or call the Manager. May be nil.
	OnNotice func(level thread.Level, text string)

	gateway thread.Gateway // that of the Manager; nil without one
	ledger  *ledger.Ledger // nil records nothing
}

// RunsConfig is how agents work without a terminal.
type RunsConfig struct {
	Store  exec.Store // of executions; nil if none can be started
	Server string     // identifies this run of the server
	// Host and User are written into the rows of processes and sub-agents.
	Host, User string
	Limits     exec.Limits
	// Why says for people where Limits.All comes from.
	Why string
	// Deadline, Lost and Dispose hold for threads that have none of their own; 10 minutes and exec.PolicyAsk when empty.
	Deadline time.Duration
	Lost     exec.Policy
	Dispose  exec.Disposal
	// Tries is how often a run is tried while the way to its model fails; exec.DefaultTries when 0. OnFail holds for threads
	// that have none of their own, and Fallbacks by agent: "model:NAME" or another agent.
	Tries     int
	OnFail    exec.OnFail
	Fallbacks map[string]string
	// Asks is what follows when an agent would ask a person, for threads that say nothing; AsksPerson when empty.
	Asks thread.Asks
	// Witness gives runs that must only read a place to work in; nil has them work in the thread's folder, unwatched.
	Witness exec.Witness
	// Stage keeps what a run prints; nil keeps nothing of it.
	Stage runs.Stage
	// Ended is called with each execution whose end is stored. It must not block. May be nil.
	Ended func(exec.Execution)
	// Parted is called with each execution of a plan's task whose stored state has changed. It must not block. May be nil.
	Parted func(exec.Execution)
	// Reported is called with what the agent of an execution of a plan's task reports. It must not block. May be nil.
	Reported func(exec.ID, thread.RunEvent)
	// Models are those of the tiers; Caps hold for threads that have none of their own: see exec.Capped.
	Models exec.Models
	Caps   thread.Caps
}

// BudgetConfig is what budgets are built on. Its zero value has no limits.
type BudgetConfig struct {
	// Thread and Project are the configured budgets of each thread and of all together.
	Thread, Project thread.Budget
	// Spent returns what a thread had spent before this server, or the project; nil returns nothing.
	Spent func(budget.Scope) (budget.Spent, error)
}

// withDefaults fills in defaults.
func (c Config) withDefaults() *Config {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Tokens == nil {
		c.Tokens = func(text string) int { return (len(text) + 3) / 4 }
	}
	if c.Limits.Primer == 0 {
		c.Limits.Primer = 12_000
	}
	if c.Limits.Grace == 0 {
		c.Limits.Grace = 5 * time.Second
	}
	c.Runs.Deadline = cmp.Or(c.Runs.Deadline, 10*time.Minute)
	c.Runs.Lost = cmp.Or(c.Runs.Lost, exec.PolicyAsk)
	c.Runs.OnFail = cmp.Or(c.Runs.OnFail, exec.FailWait)
	c.Runs.Server = cmp.Or(c.Runs.Server, thread.NewID[string]())
	return &c
}

// now is the time of the configured clock.
func (c *Config) now() time.Time { return c.Clock() }

// stateDir is the folder for a thread's own files.
func (c *Config) stateDir(id thread.ID) string {
	return filepath.Join(c.StateDir, "threads", string(id))
}

// attachments is the folder of files that a thread's agent is given to read.
func (c *Config) attachments(id thread.ID) attachment.Folder {
	return attachment.At(filepath.Join(c.stateDir(id), "read"))
}

// rootOf is the root of a thread's worktree, or the project's folder.
func (c *Config) rootOf(t thread.Thread) string { return cmp.Or(t.Worktree.Path, c.Project) }

// mcps names the MCP servers that are enabled for a thread.
func (c *Config) mcps(id thread.ID) []string {
	if c.MCP == nil {
		return nil
	}
	return c.MCP.Enabled(id)
}

// promptKnown tells of a prompt whose words may switch MCP servers on, before the agent's next model request.
func (c *Config) promptKnown(id thread.ID, text string) {
	if c.MCP != nil {
		c.MCP.Prompt(id, text)
	}
}

// runsLines reports whether an agent's program may run what is typed into it. One that is not known may.
func (c *Config) runsLines(agent string) bool {
	a, err := c.Agents.Agent(agent)
	return err != nil || thread.RunsLines(a)
}
