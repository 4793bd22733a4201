package thread

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
)

// CheckpointKind says why a checkpoint was written.
type CheckpointKind string

// The kinds.
const (
	KindResponse CheckpointKind = "response" // one model response inside a turn
	KindTurn     CheckpointKind = "turn"     // a turn ended; carries the worktree's snapshot
	KindSafety   CheckpointKind = "safety"   // before a rewind, merge or risky action
	KindRewind   CheckpointKind = "rewind"   // the thread was set back
	KindImport   CheckpointKind = "import"   // came with an archive
)

// NoteRebuilt is the note of checkpoints that the store lost and that came back from what the agent wrote down.
const NoteRebuilt = "rebuilt from the agent's transcript"

// Checkpoint is what a thread was when a response or a turn ended. Checkpoints form a tree by
// Parent, across threads: a fork's first checkpoint has its fork point as parent.
type Checkpoint struct {
	ID     CheckpointID   `json:"id"`
	Thread ID             `json:"thread"`
	Parent CheckpointID   `json:"parent,omitempty"`
	Seq    int64          `json:"seq"`  // per thread, from 1, never reused
	Turn   int            `json:"turn"` // depth in turns; the running turn counts
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

	Session  string    `json:"session,omitempty"`
	Items    int       `json:"items"` // length of the whole conversation
	Snapshot *Snapshot `json:"snapshot,omitempty"`
	MCP      []string  `json:"mcp,omitempty"`
	Note     string    `json:"note,omitempty"` // for people: "before rewind to turn 3"
	// Rewound is set in timelines for a turn that a rewind left behind. It is not stored.
	Rewound bool `json:"aside,omitempty"`
}

// Whole reports whether a conversation can be cut at the checkpoint: not in the middle of a turn.
func (c Checkpoint) Whole() bool { return c.Kind != KindResponse || c.Note == NoteTurnEnded }

// Snapshot is a worktree's content as a git tree under our own refs.
type Snapshot struct {
	Commit     string `json:"commit"`
	Tree       string `json:"tree"`
	Base       string `json:"base"`       // HEAD's commit when it was taken, empty in an unborn repository
	Files      int    `json:"files"`      // changed against the snapshot before
	Insertions int    `json:"insertions"` // lines, against the snapshot before
	Deletions  int    `json:"deletions"`
	Skipped    []Skip `json:"skipped,omitempty"`
}

// Skip is a file that a snapshot does not hold, and why.
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

// Hash returns the item's content address, SHA-256 over wire name, NUL and raw bytes, in hex.
func (i Item) Hash() string {
	h := sha256.New()
	h.Write([]byte(i.Wire))
	h.Write([]byte{0})
	h.Write(i.Raw)
	return hex.EncodeToString(h.Sum(nil))
}

// Delta is what a checkpoint adds to its parent.
type Delta struct {
	// Keep is how many items of the parent's conversation still stand, from the first on.
	Keep int
	// Items follow them.
	Items []Item
	// Transcript holds what the agent's native files gained since the parent.
	Transcript []Chunk
	// Prompts are stored in the same transaction: those that the checkpoint answers. They are no part of the
	// conversation.
	Prompts []Prompt
}

// Chunk is a piece of one of an agent's native transcript files.
type Chunk struct {
	// File is the adapter's name for the file, stable over resumes: "main", "subagents/agent-1.jsonl".
	File string
	// Offset is where Data begins. 0 with a file already known means that it was rewritten.
	Offset int64
	Data   []byte
}

// TranscriptFile is one native file as a checkpoint knows it, whole.
type TranscriptFile struct {
	File string
	Data []byte
}

// Mark says how much of a native file is stored, and what it hashes to.
type Mark struct {
	File string `json:"file"`
	Size int64  `json:"size"`
	// SHA256 of the first Size bytes, hex.
	SHA256 string `json:"sha256"`
}

// Page asks for a stretch of a thread's checkpoints, newest first.
type Page struct {
	// Before is exclusive, in Seq; 0 begins at the newest.
	Before int64
	// Limit is the most to return; 0 means 100.
	Limit int
	// Turns leaves out the responses inside turns.
	Turns bool
	// All adds to the turns of a timeline what is no whole turn of its conversation: the newest response of one that has
	// not ended, and the turns that a rewind left behind, as Rewound. Stores pay no heed to it.
	All bool
}

// The notes of the safety checkpoints around a merge that came to nothing.
const (
	NoteBeforeMerge = "before the merge "
	NoteNotMerged   = "the merge was taken back"
)

// TakesBack reports whether a checkpoint says that what another one was taken for came to nothing, and nothing happened
// in between: who reads what was done needs neither.
func (c Checkpoint) TakesBack(before Checkpoint) bool {
	return c.Kind == KindSafety && c.Note == NoteNotMerged && c.Parent == before.ID &&
		before.Kind == KindSafety && strings.HasPrefix(before.Note, NoteBeforeMerge)
}

// NoteTurnEnded marks the response that ended a turn: if its turn's checkpoint is missing because
// of a crash, the next start writes it.
const NoteTurnEnded = "the turn ended here"
