package work

import (
	"encoding/json"
	"time"

	"orchestrator/thread"
)

// OutputType is what an output is.
type OutputType string

// The types of outputs.
const (
	OutputDeliverable OutputType = "deliverable"       // a file; its content is a Deliverable
	OutputValidation  OutputType = "validation_result" // what checks said; its content is a Validation
	OutputInsight     OutputType = "insight"           // a sentence; its content is a JSON string
	OutputError       OutputType = "error"             // likewise
)

// OutputTypes returns all types.
func OutputTypes() []OutputType {
	return []OutputType{OutputDeliverable, OutputValidation, OutputInsight, OutputError}
}

// Output is something that came of an execution. Once stored it does not change, but for Current. In JSON it has the names
// of the view "outputs", and more.
type Output struct {
	N         int64           `json:"output_id"` // in the project, set by the store
	Execution string          `json:"execution_id"`
	Type      OutputType      `json:"output_type"`
	Content   json.RawMessage `json:"content"`
	Created   time.Time       `json:"created_at"`
	Metadata  OutputMetadata  `json:"metadata"`

	// Path is the file of a deliverable, relative to the project with slashes; "" for other types. Version counts what its
	// Line has of this path and type from 1; Current is its newest. Without a path Version is 0, and all are Current.
	Path    string `json:"path,omitempty"`
	Version int    `json:"version,omitempty"`
	Current bool   `json:"current"`
	// By is the thread whose agent recorded it; "" for a person, and for us.
	By thread.ID `json:"recorded_by,omitempty"`
}

// OutputMetadata is what an output says of where it comes from.
type OutputMetadata struct {
	AgentType string   `json:"agent_type,omitempty"`
	Model     string   `json:"model,omitempty"`
	Related   []string `json:"related_files,omitempty"` // other deliverables of the execution
	Claimed   bool     `json:"claimed,omitempty"`       // somebody said so; we did not see it
}

// Deliverable is the content of an output of that type. Lines are counted by git between the base and the file as it was
// when it was recorded.
type Deliverable struct {
	Path     string `json:"file_path"`
	Added    int    `json:"lines_added"`
	Modified int    `json:"lines_modified"` // the sum over the hunks of min(lines added, lines deleted); Added counts the rest
	Deleted  int    `json:"lines_deleted,omitempty"`
	// Base is the commit that it is compared with, Blob git's hash of the file's content, "" if it is gone.
	Base string `json:"base_commit,omitempty"`
	Blob string `json:"blob,omitempty"`
	From string `json:"renamed_from,omitempty"`
	// What says why lines are not counted, or that the file is gone; "" if all of it is text that was counted.
	What  FileNote `json:"note,omitempty"`
	Bytes int64    `json:"bytes,omitempty"`
	// Validation is what checks of ours said, Claimed what the agent or the person said.
	Validation *Validation `json:"validation,omitempty"`
	Claimed    *Validation `json:"claimed,omitempty"`
}

// FileNote is what there is to say of a file.
type FileNote string

// The notes.
const (
	FileBinary    FileNote = "binary"
	FileDeleted   FileNote = "deleted"   // its lines are counted as deleted
	FileMissing   FileNote = "missing"   // it is not there, and was not
	FileSymlink   FileNote = "symlink"   // it is one, which is not followed
	FileTooLarge  FileNote = "too large" // for a snapshot
	FileOutside   FileNote = "outside"   // of the repository, or behind a link: it was not read
	FileSubmodule FileNote = "submodule" // a repository inside the repository
	FileIgnored   FileNote = "ignored"   // git ignores it
	FileFolder    FileNote = "folder"    // nothing in it differs
	FileSpecial   FileNote = "special"   // a device, a socket, a pipe: it was not opened
	FileNoGit     FileNote = "no repository"
	FileNoBase    FileNote = "base missing" // the commit that it would be compared with is not in the repository
)

// Verdict is what a check says: "pass", "fail", "skipped".
type Verdict string

// The verdicts.
const (
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
	Skipped Verdict = "skipped"
)

// Validation is what checks said.
type Validation struct {
	Format   Verdict  `json:"format,omitempty"`
	Lint     Verdict  `json:"lint,omitempty"`
	Types    Verdict  `json:"types,omitempty"`
	Tests    Verdict  `json:"tests,omitempty"`
	Coverage *float64 `json:"coverage,omitempty"` // percent
	// Output is the last of what a check that failed printed, as an excerpt without secrets.
	Output string `json:"output,omitempty"`
	// At is when it was said, or checked.
	At time.Time `json:"at,omitzero"`
}

// OutputQuery selects outputs.
type OutputQuery struct {
	Execution string // id or name; "" for all
	Of        []ID   // only of these executions; none for all
	Session   string // "" for all
	AgentType string // "" for all
	Types     []OutputType
	Path      string // only of this file
	Since     time.Time
	By        *thread.ID // only what this thread's agent recorded, or was recorded of its executions; nil for all
	Current   bool       // only the newest version of each Line
	Before    int64      // only those whose N is smaller; 0 for the newest
	Limit     int        // 0 means 100; at most 1000
	// Whole is how many bytes of content are returned; 0 for all. Of texts that follow, those that do not fit are cut, and say
	// so.
	Whole int
}

// Seen reports whether git has told what there is to say of the file: otherwise that it is a deliverable is a claim.
func (d Deliverable) Seen() bool {
	switch d.What {
	case FileMissing, FileOutside, FileIgnored, FileFolder, FileSpecial, FileNoGit, FileNoBase:
		return false
	default:
		return true
	}
}
