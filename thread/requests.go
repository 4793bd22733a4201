package thread

import (
	"time"
)

// PushRequest asks to push a thread's work.
type PushRequest struct {
	Thread  string `json:"thread"`
	Message string `json:"message,omitempty"` // of the commit; the label without it
	// PR also opens a pull request, with the summary of what the thread found as its text.
	PR   bool   `json:"pr,omitempty"`
	Base string `json:"base,omitempty"` // branch to merge into; the remote's default without it
}

// PushReport says where it went.
type PushReport struct {
	Branch string `json:"branch"`
	Remote string `json:"remote"`
	Commit string `json:"commit"`
	PR     string `json:"pr,omitempty"` // address of the pull request
}

// The requests of the Manager's use cases, as clients send them. A thread is named by its name,
// a prefix of it that is unique, or its id; a point in it by "" (newest), a turn's number, or a
// checkpoint's id or a prefix of it.

// NewRequest asks for a new thread.
type NewRequest struct {
	Agent  string `json:"agent"`
	Model  string `json:"model,omitempty"`
	Name   string `json:"name,omitempty"`  // slug; from Label or Prompt when empty
	Label  string `json:"label,omitempty"` // what it is for
	Prompt string `json:"prompt,omitempty"`
	Dir    string `json:"dir,omitempty"` // the project's folder when empty
	// Worktree asks for a git worktree of its own, InPlace for the folder itself; without either
	// ManagerConfig.NewWorktree decides.
	Worktree bool  `json:"worktree,omitempty"`
	InPlace  bool  `json:"inPlace,omitempty"`
	Flags    Flags `json:"flags"`
	Cols     int   `json:"cols,omitempty"`
	Rows     int   `json:"rows,omitempty"`
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
	// Fresh has the agent begin with an empty context, and a summary of the conversation in it. Another agent than the
	// parent's begins so always, and so does one at a point in the middle of a turn.
	Fresh bool `json:"fresh,omitempty"`
	// Program and Args are what the agent is started with instead of what the parent's is.
	Program []string `json:"program,omitempty"`
	Args    []string `json:"args,omitempty"`
	// NoStart stores the fork without starting its agent.
	NoStart bool `json:"noStart,omitempty"`
	Cols    int  `json:"cols,omitempty"`
	Rows    int  `json:"rows,omitempty"`
}

// RewindRequest asks to set a thread back to one of its checkpoints.
type RewindRequest struct {
	Thread       string `json:"thread"`
	At           string `json:"at"`
	Files        bool   `json:"files"`
	Conversation bool   `json:"conversation"`
}

// RewindReport says what a rewind did; Safety is the checkpoint that undoes it.
type RewindReport struct {
	Safety CheckpointID `json:"safety"`
	Turn   int          `json:"turn"`
	Files  []FileDiff   `json:"files,omitempty"`
	// Left are files that stay as they are: other threads that work in the folder may have written them.
	Left    []string `json:"left,omitempty"`
	Message string   `json:"message"`
}

// DiffRequest asks for the files between two points of a thread. From and To: "base", "now",
// or a point.
type DiffRequest struct {
	Thread string `json:"thread"`
	From   string `json:"from"`
	To     string `json:"to"`
}

// FileDiff is how one file differs.
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
	// Finish also archives the thread and removes its worktree when everything is reachable.
	Finish bool `json:"finish,omitempty"`
	// CommitInto commits first all that is not committed in the folder that it goes into.
	CommitInto bool `json:"commitInto,omitempty"`
	// Note says whether the agent of the thread that it goes into is sent a note of the merge; as it is set when empty.
	Note NoteMode `json:"note,omitempty"`
	// NoteOnly sends the note of the merge that was made last, and does nothing else.
	NoteOnly bool `json:"noteOnly,omitempty"`
}

// NoteMode says whether an agent is sent a note of a merge into its branch. A note is a prompt: it costs a turn.
type NoteMode string

// The modes.
const (
	NoteAsk    NoteMode = "ask" // only where the person says so each time, the default
	NoteAlways NoteMode = "always"
	NoteNever  NoteMode = "never"
)

// MergeReport says what a merge did or would do.
type MergeReport struct {
	Commit    string   `json:"commit,omitempty"`
	Branch    string   `json:"branch"`
	Into      string   `json:"into"`
	Dir       string   `json:"dir"` // where conflicts are to be resolved
	UpToDate  bool     `json:"upToDate,omitempty"`
	Conflicts []string `json:"conflicts,omitempty"`
	// Stopped is set where the merge was begun and waits for its conflicts to be resolved.
	Stopped bool `json:"stopped,omitempty"`
	// Unsure says what a dry run cannot tell, for people.
	Unsure  string     `json:"unsure,omitempty"`
	Files   []FileDiff `json:"files,omitempty"`
	Summary string     `json:"summary,omitempty"`
	// Shared names the other threads that work in the thread's folder: what they changed there is merged too. Beside
	// names those that work in Dir, other than the one that it is merged into.
	Shared []string `json:"shared,omitempty"`
	Beside []string `json:"beside,omitempty"`
	// Committed are the files that CommitInto committed before, or would.
	Committed []string `json:"committed,omitempty"`
	// Told is set where Summary is sent to the target's agent as a note; Ask where nobody said whether it is to be:
	// NoteOnly sends it.
	Told     bool   `json:"told,omitempty"`
	Ask      bool   `json:"ask,omitempty"`
	Finished bool   `json:"finished,omitempty"`
	Kept     string `json:"kept,omitempty"` // why the worktree was not removed
}

// TransferRequest asks to write a thread to a file or to take one from it. File is absolute.
type TransferRequest struct {
	Thread  string `json:"thread,omitempty"`
	File    string `json:"file"`
	NoFiles bool   `json:"noFiles,omitempty"`
	// WithSecrets exports secrets that the conversation holds; they are left out without it.
	WithSecrets bool `json:"withSecrets,omitempty"`
}

// BackupReport says what a backup holds, or what was taken back from one.
type BackupReport struct {
	File        string `json:"file"`
	Threads     int    `json:"threads"`
	Checkpoints int    `json:"checkpoints"`
	Bytes       int64  `json:"bytes,omitempty"` // of the file
	// Secrets says that they are in it, and Files that the files of the project are.
	Secrets bool `json:"secrets"`
	Files   bool `json:"files"`
	// There are the threads of a backup that were not taken back, as they are here already.
	Existing []string `json:"there,omitempty"`
	Notes    []string `json:"notes,omitempty"` // for people
}

// CollectRequest asks to let go of what the retention settings need not keep.
type CollectRequest struct {
	DryRun bool `json:"dryRun,omitempty"`
}

// Collected says what went, or would go.
type Collected struct {
	Threads []Dropped `json:"threads"`
	Freed   int64     `json:"freed"` // bytes
	// Notes are what a person should know about how it was decided.
	Notes []string `json:"notes,omitempty"`
}

// Dropped is a thread that went, and why.
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
	// Call joins a result to its call.
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

// Hit is where a search found its words.
type Hit struct {
	Thread     ID           `json:"thread"`
	Name       string       `json:"name"`
	Checkpoint CheckpointID `json:"checkpoint,omitempty"`
	Turn       int          `json:"turn,omitempty"`
	Where      string       `json:"where"`            // "name", "prompt", "answer", "queued prompt", "interrupted prompt" …
	Prompt     PromptID     `json:"prompt,omitempty"` // of one without an answer
	Snippet    string       `json:"snippet"`
	At         time.Time    `json:"at"`
}

// AgentInfo says whether an agent can be started here.
type AgentInfo struct {
	Name    string   `json:"name"`
	Found   bool     `json:"found"`
	Path    string   `json:"path,omitempty"`
	Version string   `json:"version,omitempty"`
	Problem string   `json:"problem,omitempty"` // "not found", "too old: 1.2, needs 2.0"
	Hint    string   `json:"hint,omitempty"`    // what to do about it
	Looked  []string `json:"looked,omitempty"`  // where it was looked for
}

// MCPServer is one MCP server that is configured somewhere.
type MCPServer struct {
	Name      string `json:"name"`
	Source    string `json:"source"` // file it comes from
	Agent     string `json:"agent,omitempty"`
	Transport string `json:"transport"` // "stdio", "http", "sse"
	Target    string `json:"target"`    // command or URL without secrets
	Trusted   bool   `json:"trusted"`   // false for what a repository brought
	Enabled   bool   `json:"enabled"`
	Problem   string `json:"problem,omitempty"`
}
