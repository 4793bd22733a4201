package thread

import (
	"context"
)

// ProgramWaiter knows which of the person's programs its work waits for, such as a signer. Optional for Merges.
type ProgramWaiter interface {
	Programs() []string
}

// ContentFinder knows which files of a snapshot have their content elsewhere. Optional for Merges.
type ContentFinder interface {
	// ContentLeft returns the files of a commit of which only a pointer is in the repository of a folder, and the content
	// not on this machine.
	ContentLeft(ctx context.Context, dir, commit string) ([]LeftOut, error)
}

// LeftOutFinder knows what an operation leaves out. Optional for Merges.
type LeftOutFinder interface {
	// LeftOut looks at the folder that an operation made or changed; from is the one that its files came from, "" for none,
	// and for a push the commit that its branch began at.
	LeftOut(ctx context.Context, op Operation, dir, from string) ([]LeftOut, error)
}

// Pusher pushes branches to the person's remote. Optional for Merges.
type Pusher interface {
	// Push pushes a branch under its own name, never by force, and returns the remote's name.
	Push(ctx context.Context, dir, branch string) (remote string, err error)
	// OpenPR opens a pull request for a pushed branch and returns its URL; an empty base is the repository's default.
	OpenPR(ctx context.Context, dir, branch, base, title, body string) (address string, err error)
}

// The ports of this file are about the work in threads: reading, comparing, searching and merging it. Each may be nil;
// the use case then returns ErrUnsupported.

// Reader reads conversations: one codec for each wire format.
type Reader interface {
	// Entries returns the pieces of the items as people read them, in order. Unreadable items become an entry that says
	// so.
	Entries(items []Item) []Entry
}

// Differ compares the files of snapshots.
type Differ interface {
	// Diff returns the differences between two commits or trees of the repository that dir belongs to, with patches. An
	// empty to means the current worktree at dir, including untracked files.
	Diff(ctx context.Context, dir, from, to string) ([]FileDiff, error)
}

// FileStep is two states of files: two commits, or nothing and a commit if From is empty.
type FileStep struct{ From, To string }

// ChangeLister lists which files differ. Optional for a Differ.
type ChangeLister interface {
	// Changed returns for each step the paths that differ, none where a commit is missing.
	Changed(ctx context.Context, dir string, steps []FileStep) ([][]string, error)
}

// Finder searches names, prompts, answers and the paths of changed files.
type Finder interface {
	// Find returns at most limit hits, best first.
	Find(ctx context.Context, query string, limit int) ([]Hit, error)
	// FindFile returns the newest turns that changed files whose paths contain all words of a query.
	FindFile(ctx context.Context, query string, limit int) ([]Hit, error)
}

// Merged is the result of a merge.
type Merged struct {
	Commit    string   // the new commit, "" with conflicts
	UpToDate  bool     // there was nothing to merge
	Conflicts []string // paths with conflicts to resolve in the worktree
}

// Merges merges the branches of threads, with the user's own identity. Every folder is a worktree of one repository.
type Merges interface {
	// Commit commits everything in a worktree, untracked files included, and returns its HEAD, which stays the same if
	// there was nothing to commit.
	Commit(ctx context.Context, worktree, message string) (commit string, err error)
	// Merge merges a branch or commit into the branch that is checked out in a worktree. Conflicts are left there and
	// their paths are returned without an error. If the worktree's own changes are in the way it changes nothing and
	// returns an error.
	Merge(ctx context.Context, into, branch, message string) (Merged, error)
	// Preview reports the result of Commit in a worktree and Merge of its HEAD, and changes nothing.
	Preview(ctx context.Context, into, worktree string) (Merged, error)
	// Continue commits a merge whose conflicts are resolved; Conflicts names those that are not.
	Continue(ctx context.Context, into string) (Merged, error)
	// Abort aborts an uncommitted merge.
	Abort(ctx context.Context, into string) error
	// Repair waits for a merge that still runs in a worktree, and repairs what a killed one left; one that has stopped
	// with conflicts is left alone.
	Repair(ctx context.Context, into string) error
	// InProgress reports whether a merge is in progress in a worktree.
	InProgress(ctx context.Context, into string) (bool, error)
	// Unresolved returns the paths with unresolved conflicts, none outside of a merge.
	Unresolved(ctx context.Context, into string) ([]string, error)
	// Reachable reports whether everything in a worktree, uncommitted files included, is part of the branch checked out in
	// another; why says what is not, for people.
	Reachable(ctx context.Context, worktree, into string) (all bool, why string, err error)
	// Branch returns the name of the branch checked out in a folder, "" for a detached HEAD.
	Branch(ctx context.Context, dir string) (string, error)
}

// LaunchChecker is an agent that not all flags can start. Optional for an Agent.
type LaunchChecker interface {
	// CheckLaunch rejects flags that it can never be started with, and says what is missing.
	CheckLaunch(Flags) error
}

// HookReader is an agent whose hook reports say what it is doing. Optional for an Agent.
type HookReader interface {
	// ReadHook returns the content of a report; ok is false if there is none.
	ReadHook(event string, payload []byte) (r HookReport, ok bool)
}

// HookReport is the content of a hook report.
type HookReport struct {
	State   State  // "" if it says nothing about the state
	Detail  string // for people: what was reported
	Session string // the agent's session, if the report names it
	Prompt  string // the prompt, if the report is about one
	// Sub is what it tells of a sub-agent, nil for nothing.
	Sub *SubReport
}

// HookDecider is an agent whose hooks may answer what it asks in a dialog, while that is shown. The first answer counts,
// the hook's or the person's; a later one is ignored. Optional for an Agent.
type HookDecider interface {
	// ReadAsk returns what a report asks; ok is false if it asks nothing.
	ReadAsk(event string, payload []byte) (a HookAsk, ok bool)
}

// HookAsk is what a hook may decide.
type HookAsk struct {
	// About reports whether a dialog asks this. Where nothing tells, it reports true for each dialog that may.
	About func(Question) bool
	// Says is what the hook says for each answer that it can give. It is empty if the hook decides nothing: then the hook
	// waits only so that its dialog is not taken for another's.
	Says map[Meaning][]byte
}

// BranchDropper deletes the branch of a worktree that was removed, and that no other has checked out. Its commits stay
// as long as a snapshot follows on them. Optional for Worktrees.
type BranchDropper interface {
	DropBranch(ctx context.Context, w Worktree) error
}

// RefRepairer makes snapshots reachable again whose refs a power cut damaged. Optional for Worktrees.
type RefRepairer interface {
	// Damaged names the threads with damaged snapshot refs.
	Damaged(ctx context.Context) ([]ID, error)
	// Kept returns the commits that the refs of each thread keep.
	Kept(ctx context.Context) (map[ID]map[string]bool, error)
	// RepairRefs makes each of a thread's commits that the repository still has reachable again, and says what it did.
	RepairRefs(ctx context.Context, id ID, commits []string) (string, error)
}

// RepairReporter makes repairs while it is used, and reports them. Optional for Worktrees.
type RepairReporter interface {
	OnRepair(report func(string))
}

// SetupRunner prepares new worktrees, and cleans up before they are removed. Both report to people what they do and
// what fails; neither prevents what comes after.
type SetupRunner interface {
	// SetUp returns why the setup failed, or was not run, after reporting it.
	SetUp(ctx context.Context, t Thread, say func(Level, string)) error
	// TearDown returns why the teardown failed, or was not run, after reporting it.
	TearDown(ctx context.Context, t Thread, say func(Level, string)) error
	// StopSetup kills the processes that a SetUp of an earlier process left running in a thread's worktree, and returns
	// their number.
	StopSetup(t Thread) (ended int)
}

// WorktreeFinder finds the worktrees that Add made for threads. Optional for Worktrees: with it a fork that a crash
// interrupted after its worktree was made is completed instead of rolled back.
type WorktreeFinder interface {
	// Made returns those whose folders exist.
	Made(ctx context.Context) (map[ID]Worktree, error)
}
