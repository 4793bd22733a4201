package thread

import "fmt"

// LeftOut is something that an operation did not bring, check or change, though a person may expect it.
type LeftOut struct {
	Kind LeftOutKind `json:"kind"`
	Path string      `json:"path"`
	Why  string      `json:"why"` // and what helps, for people
}

// LeftOutKind is the kind of thing that is left out.
type LeftOutKind string

// The kinds.
const (
	LeftSubmodule  LeftOutKind = "submodule"
	LeftRepository LeftOutKind = "repository" // inside the worktree, with a history of its own
	LeftGate       LeftOutKind = "gate"       // a hook that was not run
	LeftHooks      LeftOutKind = "hooks"      // a folder of hooks that is not there
	LeftFiles      LeftOutKind = "files"      // of a thread, in a folder that has others
	LeftFile       LeftOutKind = "file"       // that snapshots do not take, such as a large one
	LeftContent    LeftOutKind = "content"    // of a file of git-lfs, whose pointer alone is there
)

func (l LeftOut) String() string { return fmt.Sprintf("%s %s: %s", l.Kind, l.Path, l.Why) }

// Operation is what leaves something out.
type Operation string

// The operations.
const (
	OpFork   Operation = "fork"
	OpMerge  Operation = "merge"
	OpDryRun Operation = "merge --dry-run"
	OpPush   Operation = "push"
	OpRewind Operation = "rewind"
	OpImport Operation = "import" // also a restore of a backup
)
