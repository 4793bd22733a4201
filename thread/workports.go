package thread

import (
	"context"
)

// Pusher sends branches to the person's remote. Optional for Merges.
type Pusher interface {
	// Push pushes a branch under its own name, never by force, and returns the remote's name.
	Push(ctx context.Context, dir, branch string) (remote string, err error)
	// OpenPR opens a pull request for a pushed branch and returns its address; an empty base is the
	// repository's default.
	OpenPR(ctx context.Context, dir, branch, base, title, body string) (address string, err error)
}

// The ports of this file are about the work that threads hold: reading it, comparing it, searching
// it and bringing it together. Each may be missing; the use case then answers ErrUnsupported.

// Reader reads conversations: one codec for each wire format.
type Reader interface {
	// Entries returns the pieces of the items as people read them, in order. Items that it cannot
	// read become an entry that says so.
	Entries(items []Item) []Entry
}

// Differ compares the files of snapshots.
type Differ interface {
	// Diff returns the files between two commits or trees of the repository that dir belongs to,
	// with their patches. An empty to means the worktree at dir as it is now, untracked files
	// included.
	Diff(ctx context.Context, dir, from, to string) ([]FileDiff, error)
}

// Finder searches names, prompts and answers.
type Finder interface {
	// Find returns at most limit hits, best first.
	Find(ctx context.Context, query string, limit int) ([]Hit, error)
}

// Merged is what a merge came to.
type Merged struct {
	Commit    string   // the new commit, empty with conflicts
	UpToDate  bool     // there was nothing to merge
	Conflicts []string // paths that are left to be resolved in the worktree
}

// Merges brings the branches of threads together, with the user's own identity. Every folder is a
// worktree of one repository.
type Merges interface {
	// Commit commits all that a worktree holds, untracked files included, and returns its HEAD;
	// that is the old one when there was nothing to commit.
	Commit(ctx context.Context, worktree, message string) (commit string, err error)
	// Merge merges a branch or commit into the branch that is checked out in a worktree. With
	// conflicts it leaves them there and returns their paths with no error. A worktree whose own
	// changes are in the way is refused untouched.
	Merge(ctx context.Context, into, branch, message string) (Merged, error)
	// Preview says what it would come to to Commit all that a worktree holds and to Merge its HEAD,
	// and changes nothing.
	Preview(ctx context.Context, into, worktree string) (Merged, error)
	// Continue commits a merge whose conflicts are resolved; Conflicts names those that are not.
	Continue(ctx context.Context, into string) (Merged, error)
	// Abort takes back a merge that is not committed.
	Abort(ctx context.Context, into string) error
	// Repair waits for a merge that still runs in a worktree, and puts right what one left that was
	// killed; one that stands there with its conflicts is left.
	Repair(ctx context.Context, into string) error
	// InProgress reports whether a worktree stands in the middle of a merge.
	InProgress(ctx context.Context, into string) (bool, error)
	// Unresolved returns the paths whose conflicts are open, none outside of a merge.
	Unresolved(ctx context.Context, into string) ([]string, error)
	// Reachable reports whether all that a worktree holds, uncommitted files included, is part of
	// the branch checked out in another; why says what is not, for people.
	Reachable(ctx context.Context, worktree, into string) (all bool, why string, err error)
	// Branch returns the name of the branch checked out in a folder, "" for a detached HEAD.
	Branch(ctx context.Context, dir string) (string, error)
}

// LaunchChecker is an agent that cannot be started with any flags. Optional for an Agent.
type LaunchChecker interface {
	// CheckLaunch refuses flags that it can never be started with, and says what is missing.
	CheckLaunch(Flags) error
}

// HookReader is an agent whose hook reports say what it is doing. Optional for an Agent.
type HookReader interface {
	// ReadHook returns what a report says; ok is false when it says nothing.
	ReadHook(event string, payload []byte) (r HookReport, ok bool)
}

// HookReport is what a hook report says.
type HookReport struct {
	State   State  // empty when it says nothing of the state
	Detail  string // for people: what was reported
	Session string // the agent's session, where the report names it
	Prompt  string // the prompt, of a report that one was sent
}

// RefRepairer makes snapshots reachable again whose refs a power cut damaged. Optional for Worktrees.
type RefRepairer interface {
	// Damaged names the threads of which some snapshot's ref is damaged.
	Damaged(ctx context.Context) ([]ID, error)
	// Kept says which commits the refs of each thread keep.
	Kept(ctx context.Context) (map[ID]map[string]bool, error)
	// RepairRefs makes each of a thread's commits that the repository still has reachable again, and says what it did.
	RepairRefs(ctx context.Context, id ID, commits []string) (string, error)
}

// RepairReporter sets things right while it is used, and tells people. Optional for Worktrees.
type RepairReporter interface {
	OnRepair(report func(string))
}

// SetupRunner makes new worktrees ready to work in, and clears up before they are removed. Both tell people what they
// do and what fails; neither stops what is to come after.
type SetupRunner interface {
	// SetUp returns why the setup failed, or was not run, once it has told it.
	SetUp(ctx context.Context, t Thread, say func(Level, string)) error
	TearDown(ctx context.Context, t Thread, say func(Level, string))
	// StopSetup ends what a SetUp of an earlier process left running in a thread's worktree, and says how many processes.
	StopSetup(t Thread) (ended int)
}

// WorktreeFinder finds the worktree that Add made for a thread. Optional for Worktrees: with it a
// fork that a crash cut after its worktree was made is finished instead of taken back.
type WorktreeFinder interface {
	Made(ctx context.Context, id ID) (made Worktree, ok bool, err error)
}
