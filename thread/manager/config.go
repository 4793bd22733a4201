package manager

import (
	"log/slog"
	"time"

	"orchestrator/thread"
)

// Limits bound what a project may hold at once. Zero is no limit.
type Limits struct {
	Depth   int // forks below forks
	Running int // agents at once
	// Primer is the most that a handoff may cost, in tokens; 0 means 12,000.
	Primer int
	// Grace is how long an agent has to end by itself when it is stopped; 0 means 5 seconds.
	Grace time.Duration
	// Continue has a prompt that a provider's limit refused sent again when the limit ends.
	Continue bool
}

// WorktreeMode says when a new thread gets a worktree of its own without being asked.
type WorktreeMode string

// The modes.
const (
	WorktreeNever  WorktreeMode = ""       // never
	WorktreeShared WorktreeMode = "shared" // where another thread that is in use has the folder
	WorktreeAlways WorktreeMode = "always"
)

// Config is what a Manager is made of. Project, StateDir, Store, Agents and Sessions are
// needed; the others may be nil.
type Config struct {
	Project  string   // the project's folder, absolute
	Moved    []string // where the project's folder was before
	StateDir string   // ours, 0700
	Bin      string   // folder with our program, for the agents' PATH; none when empty
	Store    thread.Store
	Spool    thread.Spool // keeps what the store refuses; nil keeps it in memory alone
	Agents   thread.Agents
	Sessions thread.Sessions

	Worktrees thread.Worktrees
	Reader    thread.Reader
	Differ    thread.Differ
	Finder    thread.Finder
	Merges    thread.Merges
	Setup     thread.SetupRunner // may be nil
	// Models fills in what transcripts do not tell, nil where nobody knows.
	Models thread.Models

	// Tokens counts the tokens of a text; four bytes a token when nil.
	Tokens func(text string) int
	Clock  func() time.Time // time.Now when nil
	Env    []string         // the environment agents start from; os.Environ's form
	Limits Limits
	Offers thread.OfferMode
	// NewWorktree says when a new thread gets a worktree of its own without being asked.
	NewWorktree WorktreeMode
	// MergeNote says whether a merge is told to the agent that it goes to; NoteAsk when empty.
	MergeNote thread.NoteMode
	// EnabledMCPs names the MCP servers that are on for a thread; none when nil.
	EnabledMCPs func(thread.ID) []string
	Log         *slog.Logger // discarded when nil
	// OnNotice hears every notice when it is told, those of Open too; it must not block or call the Manager. May be nil.
	OnNotice func(level thread.Level, text string)
}
