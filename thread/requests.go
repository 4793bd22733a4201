package thread

import (
	"fmt"
	"strings"
	"time"
)

// PushRequest asks to push a thread's work.
type PushRequest struct {
	Thread  string `json:"thread"`
	Message string `json:"message,omitempty"` // commit message; the label when empty
	// PR also opens a pull request, with a summary of the thread as its text.
	PR   bool   `json:"pr,omitempty"`
	Base string `json:"base,omitempty"` // branch to merge into; the remote's default when empty
}

// PushReport describes what was pushed, and where to.
type PushReport struct {
	Branch string `json:"branch"`
	Remote string `json:"remote"`
	Commit string `json:"commit"`
	PR     string `json:"pr,omitempty"` // address of the pull request
	// LeftOut is what the push left out.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
}

// The requests of the Manager's use cases, as clients send them. A thread is given by its name, a unique prefix of it,
// or its id; a point in it by "" (newest), the number of a turn, or a checkpoint's id or a prefix of it.

// Given is what the first prompt of a run was made of, beside what its person wrote.
type Given struct {
	Bundle  string `json:"bundle,omitempty"`  // the id of the bundle that stands in it
	Replays string `json:"replays,omitempty"` // the execution whose prompt it repeats
	Scope   string `json:"scope,omitempty"`   // what it is about, if that is not how the prompt begins
}

// NewRequest asks for a new thread.
type NewRequest struct {
	Agent  string `json:"agent"`
	Model  string `json:"model,omitempty"`
	Name   string `json:"name,omitempty"`  // slug; from Label or Prompt when empty
	Label  string `json:"label,omitempty"` // its purpose
	Prompt string `json:"prompt,omitempty"`
	Dir    string `json:"dir,omitempty"` // the project's folder when empty
	// Worktree asks for a git worktree of its own, InPlace for the folder itself; with neither, ManagerConfig.NewWorktree
	// decides.
	Worktree bool  `json:"worktree,omitempty"`
	InPlace  bool  `json:"inPlace,omitempty"`
	Lines    bool  `json:"lines,omitempty"` // see AskRequest
	Flags    Flags `json:"flags"`
	// MCP are servers to switch on, as the person would.
	MCP []string `json:"mcp,omitempty"`
	// Base is the profile of what the agent leaves out, BaseDefault for the one that is configured.
	Base string `json:"base,omitempty"`
	// Started is set if the thread is started for a task, by a verb other than `new` or by another thread; not opened by
	// hand.
	Started bool `json:"started,omitempty"`
	// Once has it run without a terminal; Execution is the name of the execution, the next exec-NNN when empty.
	Once      Once   `json:"once,omitzero"`
	Execution string `json:"execution,omitempty"`
	// Given is what the prompt of a run was made of.
	Given Given `json:"given,omitzero"`
	// By is the thread whose agent asks, "" for the person.
	By   ID  `json:"-"`
	Cols int `json:"cols,omitempty"`
	Rows int `json:"rows,omitempty"`
}

// ForkRequest asks for a new thread at a point of another.
type ForkRequest struct {
	Thread     string `json:"thread"`
	At         string `json:"at,omitempty"`
	Label      string `json:"label"`
	Name       string `json:"name,omitempty"`
	Agent      string `json:"agent,omitempty"` // the parent's when empty
	Prompt     string `json:"prompt,omitempty"`
	NoWorktree bool   `json:"noWorktree,omitempty"`
	// Fresh starts the agent with an empty context and a summary of the conversation. Another agent than the parent's, and
	// a fork in the middle of a turn, always start like that.
	Fresh bool `json:"fresh,omitempty"`
	// Program and Args replace the parent's.
	Program []string `json:"program,omitempty"`
	Args    []string `json:"args,omitempty"`
	// Lines is as in AskRequest. HandOver is the person's consent to typing one line with the path of the handoff into a
	// program that may run it.
	Lines    bool `json:"lines,omitempty"`
	HandOver bool `json:"handOver,omitempty"`
	// Base is the profile of what its agent leaves out, BaseDefault for what the parent's does. Started is as in NewRequest.
	Base    string `json:"base,omitempty"`
	Started bool   `json:"started,omitempty"`
	// Keep are levers and tools that stay with that profile.
	Keep []string `json:"keep,omitempty"`
	// NoStart stores the fork without starting its agent.
	NoStart bool `json:"noStart,omitempty"`
	// Once, Execution, Given and By are as in NewRequest. A fork of a thread that runs without a terminal runs in one unless Once is on.
	Once      Once   `json:"once,omitzero"`
	Execution string `json:"execution,omitempty"`
	Given     Given  `json:"given,omitzero"`
	By        ID     `json:"-"`
	// ID is the id of the execution, a new one when empty, and Takes that of the one whose place it takes.
	ID    string `json:"-"`
	Takes string `json:"-"`
	Cols  int    `json:"cols,omitempty"`
	Rows  int    `json:"rows,omitempty"`
}

// BaseRequest asks for another profile of a thread, from its next start on, or from its first. Keep are levers and tools
// that stay with it. Forget asks for nothing of that: what was found not to work with the version of the thread's agent is
// forgotten, so that new threads leave it out again.
type BaseRequest struct {
	Thread  string   `json:"thread"`
	Profile string   `json:"profile"`
	Keep    []string `json:"keep,omitempty"`
	Forget  bool     `json:"forget,omitempty"`
}

// BaseChange is what became of a BaseRequest.
type BaseChange struct {
	Name string `json:"name"`
	Base Base   `json:"base"`
	// Waits is set if the change takes effect with the thread's next start or fork. Tokens are about how many must then be
	// written to the provider's cache again, and USD what they cost; 0 if that is unknown.
	Waits  bool    `json:"waits"`
	Tokens int64   `json:"tokens,omitempty"`
	USD    float64 `json:"usd,omitempty"`
	// Forgot is set if what did not work was forgotten of this version of the agent: the levers Again.
	Forgot string   `json:"forgot,omitempty"`
	Again  []string `json:"again,omitempty"`
}

// Priced returns the change with what a thread's context says of its price.
func (c BaseChange) Priced(r ContextReport) BaseChange {
	if r.Tokens > 0 {
		c.Tokens = r.Tokens
	}
	c.USD = float64(c.Tokens) * r.SentUSD
	return c
}

// Says returns in a sentence what became of it.
func (c BaseChange) Says() string {
	switch {
	case c.Forgot != "" && len(c.Again) == 0:
		return fmt.Sprintf("nothing to forget about %s", c.Forgot)
	case c.Forgot != "":
		return fmt.Sprintf("new threads with %s leave out %s again, if their base does", c.Forgot, strings.Join(c.Again, ", "))
	case !c.Waits && c.Base.Chosen:
		return fmt.Sprintf("%s has base %s", c.Name, c.Base.Profile)
	case !c.Waits:
		return fmt.Sprintf("%s will be started with base %s", c.Name, c.Base.Profile)
	}
	price := "cost unknown"
	if c.USD > 0 {
		price = fmt.Sprintf("$%.2f", c.USD)
	}
	tokens := "all tokens of its context"
	if c.Tokens > 0 {
		tokens = "about " + Tokens(c.Tokens) + " tokens"
	}
	return fmt.Sprintf("%s has base %s from its next start, rewind or fork on; %s are then written to the provider's cache again (%s)",
		c.Name, c.Base.Next, tokens, price)
}

// ResumeRequest describes how a thread's agent is resumed.
type ResumeRequest struct {
	Cols, Rows int
	HandOver   bool // as in ForkRequest
}

// RewindRequest asks to rewind a thread to one of its checkpoints.
type RewindRequest struct {
	Thread       string `json:"thread"`
	At           string `json:"at"`
	Files        bool   `json:"files"`
	Conversation bool   `json:"conversation"`
}

// RewindReport describes what a rewind did; Safety is the checkpoint that undoes it.
type RewindReport struct {
	Safety CheckpointID `json:"safety"`
	Turn   int          `json:"turn"`
	Files  []FileDiff   `json:"files,omitempty"`
	// Left are files that were left alone: other threads in the folder may have written them.
	Left    []string `json:"left,omitempty"`
	Message string   `json:"message"`
	// LeftOut is what the rewind left out.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
}

// DiffRequest asks for the files between two points of a thread. From and To: "base", "now",
// or a point.
type DiffRequest struct {
	Thread string `json:"thread"`
	From   string `json:"from"`
	To     string `json:"to"`
}

// FileDiff is the difference of one file.
type FileDiff struct {
	Path       string `json:"path"`
	OldPath    string `json:"oldPath,omitempty"` // when renamed
	Status     string `json:"status"`            // "added", "modified", "deleted", "renamed", "type"
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
	Binary     bool   `json:"binary,omitempty"`
	Patch      string `json:"patch,omitempty"` // unified, without the file header
}

// MergeRequest asks to merge a thread's work into another's branch.
type MergeRequest struct {
	Thread  string `json:"thread"`
	Into    string `json:"into,omitempty"` // the parent when empty
	DryRun  bool   `json:"dryRun,omitempty"`
	Message string `json:"message,omitempty"`
	// Finish also archives the thread and removes its worktree if everything in it was merged.
	Finish bool `json:"finish,omitempty"`
	// CommitInto commits the uncommitted changes in the target's folder first.
	CommitInto bool `json:"commitInto,omitempty"`
	// Note is whether the target's agent is sent a note on the merge; the configured mode when empty.
	Note NoteMode `json:"note,omitempty"`
	// NoteOnly sends the note on the last merge, and does nothing else.
	NoteOnly bool `json:"noteOnly,omitempty"`
}

// NoteMode describes whether an agent is sent a note on a merge into its branch. A note is a prompt: it costs a turn.
type NoteMode string

// The modes.
const (
	NoteAsk    NoteMode = "ask" // only if the person asks for it each time, the default
	NoteAlways NoteMode = "always"
	NoteNever  NoteMode = "never"
)

// MergeReport describes what a merge did or would do.
type MergeReport struct {
	Commit    string   `json:"commit,omitempty"`
	Branch    string   `json:"branch"`
	Into      string   `json:"into"`
	Dir       string   `json:"dir"` // where conflicts are to be resolved
	UpToDate  bool     `json:"upToDate,omitempty"`
	Conflicts []string `json:"conflicts,omitempty"`
	// Stopped is set if the merge is in progress and waits for its conflicts to be resolved.
	Stopped bool `json:"stopped,omitempty"`
	// Unsure is what a dry run cannot tell, for people.
	Unsure  string     `json:"unsure,omitempty"`
	Files   []FileDiff `json:"files,omitempty"`
	Summary string     `json:"summary,omitempty"`
	// Shared names the other threads that work in the thread's folder: their changes there are merged too. Beside names
	// those that work in Dir, other than the target.
	Shared []string `json:"shared,omitempty"`
	Beside []string `json:"beside,omitempty"`
	// Committed are the files that CommitInto committed first, or would.
	Committed []string `json:"committed,omitempty"`
	// Told is set if Summary is sent to the target's agent as a note; Ask if it is not decided: NoteOnly sends it.
	Told bool `json:"told,omitempty"`
	Ask  bool `json:"ask,omitempty"`
	// Untold is why no note can be sent to the target's agent, "" if one can.
	Untold   string `json:"untold,omitempty"`
	Finished bool   `json:"finished,omitempty"`
	Kept     string `json:"kept,omitempty"` // why the worktree was not removed
	// Undone is why the teardown of the worktree failed or did not run.
	Undone string `json:"undone,omitempty"`
	// LeftOut is what the merge left out.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
}

// TransferRequest asks to export a thread to a file or to import one. File is absolute.
type TransferRequest struct {
	Thread  string `json:"thread,omitempty"`
	File    string `json:"file"`
	NoFiles bool   `json:"noFiles,omitempty"`
	// WithSecrets includes secrets in the conversation; otherwise they are redacted.
	WithSecrets bool `json:"withSecrets,omitempty"`
}

// Exported is a thread that was exported, and what a person should know about the file.
type Exported struct {
	Status
	Notes []string `json:"notes,omitempty"`
}

// Imported is a thread that was imported; its LeftOut is what it came without.
type Imported struct {
	Status
	Notes []string `json:"notes,omitempty"`
}

// BackupReport describes what a backup contains, or what was restored from one.
type BackupReport struct {
	File        string `json:"file"`
	Threads     int    `json:"threads"`
	Checkpoints int    `json:"checkpoints"`
	Bytes       int64  `json:"bytes,omitempty"` // of the file
	// Executions, Sessions and Bundles are of the record of work; Recorded counts those that were here already.
	Executions int `json:"executions,omitempty"`
	Sessions   int `json:"workSessions,omitempty"`
	Bundles    int `json:"bundles,omitempty"`
	Tasks      int `json:"tasks,omitempty"` // of plans
	Recorded   int `json:"recorded,omitempty"`
	// Secrets is set if it includes secrets, and Files if it includes the project's files.
	Secrets bool `json:"secrets"`
	Files   bool `json:"files"`
	// Existing are the threads of a backup that were not restored because they already exist.
	Existing []string `json:"there,omitempty"`
	// Archived and Deleted are those of them that the list of threads does not show.
	Archived []string `json:"archived,omitempty"`
	Deleted  []string `json:"deleted,omitempty"`
	// LeftOut is what was not restored of the threads.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
	Notes   []string  `json:"notes,omitempty"` // for people
}

// CollectRequest asks to delete archived threads past the retention limits.
type CollectRequest struct {
	DryRun bool `json:"dryRun,omitempty"`
}

// Collected describes what was deleted, or would be.
type Collected struct {
	Threads []Dropped `json:"threads"`
	Freed   int64     `json:"freed"` // bytes
	// Recorded is how many executions, work sessions and bundles are past the limit of the record of work.
	Recorded int `json:"recorded,omitempty"`
	// Notes are what a person should know about how it was decided.
	Notes []string `json:"notes,omitempty"`
}

// Dropped is a deleted thread, and why.
type Dropped struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Why   string `json:"why"`
}

// Entry is one piece of a turn as people read it.
type Entry struct {
	Kind EntryKind `json:"kind"`
	Text string    `json:"text"`           // Markdown for answers
	Tool string    `json:"tool,omitempty"` // of calls and results
	// Call is the id of the call that a result belongs to.
	Call  string `json:"call,omitempty"`
	Error bool   `json:"error,omitempty"`
}

// EntryKind is what an Entry is.
type EntryKind string

// The kinds of entries.
const (
	EntryPrompt   EntryKind = "prompt"
	EntryAnswer   EntryKind = "answer"
	EntryThinking EntryKind = "thinking"
	EntryCall     EntryKind = "call"
	EntryResult   EntryKind = "result"
)

// Hit is a search result.
type Hit struct {
	Thread     ID           `json:"thread"`
	Name       string       `json:"name"`
	Checkpoint CheckpointID `json:"checkpoint,omitempty"`
	Turn       int          `json:"turn,omitempty"`
	// "name", "changed", "prompt", "answer", "queued prompt", "interrupted prompt" ….
	Where   string    `json:"where"`
	Prompt  PromptID  `json:"prompt,omitempty"` // a prompt without an answer
	Snippet string    `json:"snippet"`          // the text around the words, or the path of the file that the turn changed
	At      time.Time `json:"at"`
}

// AgentInfo describes whether an agent can be started here.
type AgentInfo struct {
	Name    string   `json:"name"`
	Found   bool     `json:"found"`
	Path    string   `json:"path,omitempty"`
	Version string   `json:"version,omitempty"`
	Problem string   `json:"problem,omitempty"` // "not found", "too old: 1.2, requires 2.0 or newer"
	Hint    string   `json:"hint,omitempty"`    // how to fix it
	Looked  []string `json:"looked,omitempty"`  // where it was searched for
	// RunsLines is set if it may run what is typed into it; see Prompted.
	RunsLines bool `json:"runsLines,omitempty"`
	// Bases are the profiles of what it leaves out, none if nothing of it can be left out, and Base the one of a thread that
	// is opened by hand.
	Bases []BaseOption `json:"bases,omitempty"`
	Base  string       `json:"base,omitempty"`
}
