package thread

import (
	"encoding/json"
	"strings"
	"time"
)

// CheckpointKind is why a checkpoint was written.
type CheckpointKind string

// The kinds.
const (
	KindResponse CheckpointKind = "response" // one model response inside a turn
	KindTurn     CheckpointKind = "turn"     // a turn ended; carries the worktree's snapshot
	KindSafety   CheckpointKind = "safety"   // before a rewind, merge or risky action
	KindRewind   CheckpointKind = "rewind"   // the thread was rewound
	KindImport   CheckpointKind = "import"   // came from an archive
	// KindPrompt is a prompt that no turn answered. It is a row of timelines and no checkpoint: its ID is the prompt's, its
	// Turn the one that it came after.
	KindPrompt CheckpointKind = "prompt"
)

// NoteRebuilt is the note of checkpoints that the store lost and that were restored from the agent's transcript.
const NoteRebuilt = "rebuilt from the agent's transcript"

// Checkpoint is the state of a thread at the end of a response or a turn. Checkpoints form a tree by Parent, across
// threads: the parent of a fork's first checkpoint is its fork point.
type Checkpoint struct {
	ID     CheckpointID   `json:"id"`
	Thread ID             `json:"thread"`
	Parent CheckpointID   `json:"parent,omitempty"`
	Seq    int64          `json:"seq"`  // per thread, from 1, never reused
	Turn   int            `json:"turn"` // number of turns up to here, the running one included
	Kind   CheckpointKind `json:"kind"`

	Created time.Time `json:"created"`
	Prompt  string    `json:"prompt,omitempty"` // the turn's prompt, at most 2,000 bytes
	Answer  string    `json:"answer,omitempty"` // the answer's text so far, at most 2,000 bytes
	Model   string    `json:"model,omitempty"`
	Stop    string    `json:"stop,omitempty"` // the provider's stop reason
	Usage   Usage     `json:"usage"`          // of this response alone
	Gauge   Gauge     `json:"gauge"`
	// Interrupted is set when the answer was cut off.
	Interrupted bool `json:"interrupted,omitempty"`

	Session string `json:"session,omitempty"`
	Items   int    `json:"items"` // length of the whole conversation
	// First is the place in the conversation of the item that the turn begins with, counted from 1; 0 if it is not known.
	First    int       `json:"first,omitempty"`
	Snapshot *Snapshot `json:"snapshot,omitempty"`
	MCP      []string  `json:"mcp,omitempty"`
	// Base is what the agent left out when it gave the answer.
	Base Base   `json:"base,omitzero"`
	Note string `json:"note,omitempty"` // for people: "before rewind to turn 3"
	// Rewound is set in timelines for a turn that a rewind undid. It is not stored.
	Rewound bool `json:"aside,omitempty"`
	// Damaged is set by a store that cannot read the checkpoint's own content: everything above up to Kind is true, and
	// Items, the rest is unknown. It is not stored.
	Damaged bool `json:"damaged,omitempty"`
	// Ended is how the prompt of a KindPrompt ended; Note says why. It is not stored.
	Ended PromptState `json:"ended,omitempty"`
}

// NoteOutside is the note of turns that somebody else made in the thread's session: they came with the next request.
const NoteOutside = "made outside of orchestrator"

// NoteLate is the note of turns of which only the next request told, after the record of them was lost.
const NoteLate = "recorded with the next request"

// Whole reports whether a conversation can be cut at the checkpoint, which is not in the middle of a turn.
func (c Checkpoint) Whole() bool { return c.Kind != KindResponse || c.Note == NoteTurnEnded }

// Snapshot is the content of a worktree as a git tree under our own refs.
type Snapshot struct {
	Commit     string `json:"commit"`
	Tree       string `json:"tree"`
	Base       string `json:"base"`       // HEAD's commit when it was taken, empty in an unborn repository
	Files      int    `json:"files"`      // changed since the previous snapshot
	Insertions int    `json:"insertions"` // lines, since the previous snapshot
	Deletions  int    `json:"deletions"`
	Skipped    []Skip `json:"skipped,omitempty"`
}

// Skip is a file that a snapshot leaves out, and why.
type Skip struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Item is one message of a conversation, in the wire format it was sent in.
type Item struct {
	// Wire names the codec that can read Raw.
	Wire string `json:"wire"`
	// Raw is the message's JSON, byte for byte as the agent sent it or as assembled from the answer.
	Raw json.RawMessage `json:"raw"`
}

// Delta is what a checkpoint adds to its parent.
type Delta struct {
	// Keep is how many items of the parent's conversation stay, counted from the first.
	Keep int
	// Items follow them.
	Items []Item
	// Transcript holds what was added to the agent's native files since the parent.
	Transcript []Chunk
	// Prompts are the prompts that the checkpoint answers. They are stored in the same transaction and are not part of the
	// conversation.
	Prompts []Prompt
}

// Chunk is a piece of one of an agent's native transcript files.
type Chunk struct {
	// File is the adapter's name for the file, the same after every resume: "main", "subagents/agent-1.jsonl".
	File string
	// Offset is where Data begins. 0 for a known file means that the file was rewritten.
	Offset int64
	Data   []byte
}

// TranscriptFile is the whole content of a native file at a checkpoint.
type TranscriptFile struct {
	File string
	Data []byte
}

// Mark describes how much of a native file is stored, and the hash of that part.
type Mark struct {
	File string `json:"file"`
	Size int64  `json:"size"`
	// SHA256 of the first Size bytes, hex.
	SHA256 string `json:"sha256"`
	// Lines is how many lines the file is known to have had, stored or not; 0 if that is not known, as a store's marks are.
	Lines int `json:"lines,omitempty"`
}

// Page selects a range of a thread's checkpoints, newest first.
type Page struct {
	// Before is an exclusive upper bound on Seq; 0 starts at the newest.
	Before int64
	// Limit is the most to return; 0 means 100.
	Limit int
	// Turns leaves out the responses inside turns.
	Turns bool
	// All adds to a timeline of turns the newest response of an unfinished turn, the turns that a rewind undid, with
	// Rewound set, and the prompts that no turn answered. Stores ignore it.
	All bool
}

// The notes of the safety checkpoints around a merge that was aborted. They are stored.
const (
	NoteBeforeMerge = "before the merge "
	NoteNotMerged   = "the merge was taken back"
)

// Undoes reports whether a checkpoint records that the operation before was rolled back with nothing in between: a
// list of what happened shows neither.
func (c Checkpoint) Undoes(before Checkpoint) bool {
	return c.Kind == KindSafety && c.Note == NoteNotMerged && c.Parent == before.ID &&
		before.Kind == KindSafety && strings.HasPrefix(before.Note, NoteBeforeMerge)
}

// NoteTurnEnded marks the response that ended a turn: if a crash loses the turn's own checkpoint, the next start writes
// it.
const NoteTurnEnded = "the turn ended here"
