package record

import (
	"orchestrator/thread/work"
)

// TraceRequest asks for the chain that something is a part of: an execution, by name or id; an output, by its number; a
// file, by its path in the project; or a bundle, by its id.
type TraceRequest struct {
	Ref string `json:"ref"`
	// Full asks for all of what was asked and said, instead of their beginnings.
	Full bool `json:"full,omitempty"`
}

// Linked is what a reference stands for.
type Linked string

// What a reference can stand for.
const (
	LinkedExecution Linked = "execution"
	LinkedOutput    Linked = "output"
	LinkedFile      Linked = "file"
	LinkedBundle    Linked = "bundle"
)

// Trace is a chain in one piece: work session, task, bundle and its pieces, execution, outputs and checks, with what is
// wrong with it as far as the record tells.
type Trace struct {
	Ref   string `json:"ref"`
	Found Linked `json:"found"`
	// Output is the output that was asked for, 0 for none. Versions are those of a file, newest first; Uses the executions
	// that a bundle was given to, newest first. The chain is that of the newest of them.
	Output   int64      `json:"output_id,omitempty"`
	Versions []Made     `json:"versions,omitempty"`
	Uses     []work.Row `json:"uses,omitempty"`

	Findings []Finding     `json:"findings"`
	Session  *work.Session `json:"session,omitempty"`
	Task     *work.Task    `json:"task,omitempty"`
	Given    Given         `json:"given"` // the execution, its context and its outputs
	Parent   *work.Row     `json:"parent,omitempty"`
	// InPlaceOf is the execution whose fallback it is, Instead the one that took its place, Replays the one that it repeats.
	InPlaceOf *work.Row `json:"in_place_of,omitempty"`
	Instead   *work.Row `json:"replaced_by,omitempty"`
	Replays   *work.Row `json:"replays,omitempty"`
	// More is what a row does not have: failure, budget, folder and commit, who wrote it down.
	More work.Execution `json:"execution"`
	// Last are the last things that it did, of Events in all.
	Last   []work.Event `json:"last_events"`
	Events int64        `json:"events"`
	// Settling is set while what came of it, or what it used, is still being written down.
	Settling bool `json:"settling,omitempty"`
	// Said is its final message, in full or its beginning; SaidCut is set if there is more.
	Said    string `json:"said,omitempty"`
	SaidCut bool   `json:"said_cut,omitempty"`
	// Natives are the sub-agents that its CLI started by itself, Before what ran before it in the same task, or else in the
	// same work session or thread; newest first.
	Natives []work.Row `json:"sub_agents,omitempty"`
	Before  []work.Row `json:"before,omitempty"`
}

// Finding is something about an execution that a person who looks for what went wrong must know.
type Finding struct {
	Code FindingCode `json:"code"`
	// Note is set for what can be right, and often is: it is said after what is wrong in any case.
	Note bool   `json:"note,omitempty"`
	Text string `json:"text"`
	Do   string `json:"do,omitempty"` // the next command, or what a person can do
}

// FindingCode is a kind of finding.
type FindingCode string

// The kinds of findings.
const (
	FoundFailed     FindingCode = "failed"
	FoundLost       FindingCode = "lost"
	FoundCancelled  FindingCode = "cancelled"
	FoundOpen       FindingCode = "open"            // it was begun long ago and never ended
	FoundLied       FindingCode = "said-otherwise"  // a check of ours contradicts what was said
	FoundRefused    FindingCode = "check-failed"    // a check of ours failed, and nobody claimed otherwise
	FoundUnchecked  FindingCode = "unchecked"       // what was said was not checked
	FoundOver       FindingCode = "over-budget"     // more was spent than it may
	FoundFull       FindingCode = "over-context"    // more was given than the budget of its context
	FoundLeftOut    FindingCode = "left-out"        // a piece of its bundle was not sent
	FoundOtherFor   FindingCode = "other-bundle"    // its bundle was made for another type or scope
	FoundLacks      FindingCode = "lacks"           // the last one of its type that completed had been given more
	FoundNothing    FindingCode = "given-nothing"   // nothing is recorded of what it was given
	FoundUntold     FindingCode = "untold"          // it changed a file of which it was given nothing
	FoundChanged    FindingCode = "changed"         // a file has changed since it was given
	FoundGone       FindingCode = "gone"            // a file that it was given is not there
	FoundOld        FindingCode = "old-version"     // it was given an older version of a deliverable than there was
	FoundBase       FindingCode = "other-base"      // it began at another commit or in another folder than the others
	FoundNative     FindingCode = "sub-agent"       // a sub-agent of it failed
	FoundFallback   FindingCode = "fallback"        // it took the place of another, or another took its place
	FoundGap        FindingCode = "gap"             // it was stopped at its bound, and something is missing
	FoundNoOutput   FindingCode = "nothing-came"    // it says that it completed, and nothing came of it
	FoundSuperseded FindingCode = "newer-version"   // what came of it has been replaced since
	FoundSettling   FindingCode = "settling"        // it has just ended, and not all is written down
	FoundClaim      FindingCode = "by-hand"         // nobody of us saw it: all of it is a claim
	FoundNear       FindingCode = "near-its-budget" // it used 90 % of what it may, or more
)
